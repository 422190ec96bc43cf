// Package relay is a Jupyter kernel that stands in front of GoNB.
//
// Jupyter talks to the relay, the relay to a GoNB of its own. Messages pass
// byte for byte, in GoNB's order, except for the few that the relay has
// something to say to: cells with magics are rewritten before GoNB sees them,
// Tab in a magic is answered here, and a cell whose runs are recorded gets
// their progress while it runs and their report when its process has ended,
// however it ended, before the cell goes idle.
//
// From the inside out: message (wire.go) and signer (sign.go) are the protocol;
// socket (socket.go) carries it; process (process.go) is the GoNB behind;
// pending (pending.go) are the requests that the relay has changed; front.go and
// back.go route the two directions; watch.go shows runs. GONB.md lists what is worked around in GoNB.
//
// The sockets that face Jupyter trust nobody: each connection has five seconds to
// greet, lengths are checked before memory is taken, a request that is sent again is
// dropped, and a peer that does not read is cut off.
package relay
