// Loaded before an example: it ends with its stdin, so that it never outlives the test.
process.stdin.resume().on('end', () => process.exit())
