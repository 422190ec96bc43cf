package cloud

// CloseIdle closes the connections that are kept for later requests.
func CloseIdle() { transport.CloseIdleConnections() }
