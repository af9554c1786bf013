// Package servicetest is the suite of yiku.Service: what the interface
// promises, as tests that run on the engine and, through client and HTTP, on
// the engine again. It also holds [Stub], a service for tests of doors.
package servicetest
