// Command peers measures Yiku and other systems on the same data, with the same
// vectors and the same metrics, in the same run. Each system is a process of its
// own that is spoken to in JSON Lines: see protocol and README.md.
package main
