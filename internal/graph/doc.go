// Package graph reads names (C14): who or what a text speaks of, what a memory
// says of whom, and which names are the same somebody's. It is pure.
//
// # Names
//
// A name is what memories call somebody, normalised: case, width, traditional
// characters, articles and titles apart. Names of people of the user carry how
// they were told apart: "my colleague Bob" and "my cousin Bob" are two names.
// Those without a name of their own are known by their place: "my sister's
// husband" is a name too.
//
// # The same
//
// Nothing is ever merged in what is stored. Whether two names are one entity
// is found out each time, from what holds then (see [Walk]):
//
//   - a memory says so: "call me Bob", "大家都叫我阿明", "my name is …"
//   - one is the short form of the other, and of no third one: "Bob" of
//     "Bob Smith" or of "my colleague Bob", 建国 of 王建国, 王老师 of 王建国老师
//   - one is the place and the other the only one who has it: "my wife" and the
//     Anna who is
//
// A short form of several is none of them: they are its candidates, and so are
// those who only share a family name, as 张伟 with 张总. Similarity decides nothing.
package graph
