//go:build !(linux || darwin || windows) || !(amd64 || arm64 || loong64 || mips64le || ppc64le || riscv64)

package machine

// A build for any other system ends here, with this sentence.
const _ = gonbext_runs_on_Linux_macOS_and_Windows_with_little_endian_processors_of_64_bits
