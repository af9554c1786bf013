//go:build !unix

package local

func mapFile(path string) ([]byte, func() error, error) { return readFile(path) }
