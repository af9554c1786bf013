// Command yiku is Yiku's server and command line.
package main

import (
	"os"

	"github.com/yiku-ai/yiku/internal/cli"
)

func main() { os.Exit(cli.Main()) }
