package main

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/client"
)

// TestI5_NoOutgoingConnection uses a running server and finds, of all its
// sockets, none that is bound or connected to anything but this machine.
// Lessons: L79.
func TestI5_NoOutgoingConnection(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/net/tcp"); err != nil {
		t.Skip("needs /proc")
	}
	p := start(t, program(t), t.TempDir())
	c, err := client.New(p.url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"我喜欢绿茶", "I like green tea"} {
		if _, err := c.SaveMemory(t.Context(), yiku.SaveMemoryRequest{UserID: "lin", Content: text}); err != nil {
			t.Fatal(err)
		}
		assertLocal(t, p.cmd.Process.Pid)
		if _, err := c.GetContext(t.Context(), yiku.GetContextRequest{UserID: "lin", Query: "tea 绿茶"}); err != nil {
			t.Fatal(err)
		}
		assertLocal(t, p.cmd.Process.Pid)
	}
	p.end(t)
}

// socket is one line of the kernel's tables.
type socket struct {
	local, remote netip.Addr
	inode         string
}

// assertLocal looks at the sockets of a process. It must find at least the one
// that listens and the one that is connected.
func assertLocal(t *testing.T, pid int) {
	t.Helper()
	mine := map[string]bool{}
	links, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range links {
		if target, err := os.Readlink(link); err == nil && strings.HasPrefix(target, "socket:[") {
			mine[strings.Trim(target, "socket:[]")] = true
		}
	}
	found := 0
	for _, table := range []string{"tcp", "tcp6", "udp", "udp6"} {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pid, table))
		if err != nil {
			continue
		}
		for _, s := range sockets(t, string(text)) {
			if !mine[s.inode] {
				continue
			}
			found++
			if fault := abroad(s); fault != "" {
				t.Errorf("%s: %s", table, fault)
			}
		}
	}
	if found < 2 {
		t.Errorf("only %d sockets are found", found)
	}
}

// abroad says what of a socket is not of this machine.
func abroad(s socket) string {
	if !s.local.Unmap().IsLoopback() {
		return "bound to " + s.local.String()
	}
	if r := s.remote.Unmap(); !r.IsLoopback() && !r.IsUnspecified() {
		return "connected to " + r.String()
	}
	return ""
}

func sockets(t *testing.T, table string) []socket {
	t.Helper()
	var all []socket
	for _, line := range strings.Split(strings.TrimSpace(table), "\n")[1:] {
		f := strings.Fields(line)
		all = append(all, socket{kernelAddr(t, f[1]), kernelAddr(t, f[2]), f[9]})
	}
	return all
}

// kernelAddr reads an address as the kernel shows it: 32-bit words in the
// machine's order, in hexadecimal.
func kernelAddr(t *testing.T, s string) netip.Addr {
	t.Helper()
	host, _, _ := strings.Cut(s, ":")
	b, err := hex.DecodeString(host)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+4 <= len(b); i += 4 {
		binary.NativeEndian.PutUint32(b[i:], binary.BigEndian.Uint32(b[i:]))
	}
	addr, ok := netip.AddrFromSlice(b)
	if !ok {
		t.Fatalf("%q is no address", s)
	}
	return addr
}

// The check sees what it is for.
func TestI5_ControlSeesAStranger(t *testing.T) {
	t.Parallel()
	const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1CFD 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 11 1
   1: 0200000A:9C40 08080808:01BB 01 00000000:00000000 00:00000000 00000000  1000        0 12 1
   2: 0100007F:9C41 08080808:0035 01 00000000:00000000 00:00000000 00000000  1000        0 13 1
`
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		t.Skip("the table is that of a little-endian machine")
	}
	var got []string
	for _, s := range sockets(t, table) {
		got = append(got, abroad(s))
	}
	if want := []string{"", "bound to 10.0.0.2", "connected to 8.8.8.8"}; strings.Join(got, "; ") != strings.Join(want, "; ") {
		t.Errorf("got %q", got)
	}
}
