#!/usr/bin/env bash
# openpgp 6.3.2 (npm).
# Guess: a key that is read and written again has all of its subkeys, or reading it fails.
# Seen: subkeys of version 5 (gpg 2.4.9, --quick-add-key with Ed448) are left out without an error: the key that
# signs is gone, and what gpg --export wrote verifies more than what armor() writes of it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund openpgp@6.3.2
cat > look.mjs <<'JS'
import { readKey } from 'openpgp'
const exported = Buffer.from('mDMEawnszxYJKwYBBAHaRw8BAQdA4/Q+oxhwOA+DR4v8gLD4q0KnKOv+LYIwCeNnbjjwG7u0GUZvcmdlIDxmb3JnZUBleGFtcGxlLmNvbT6IkAQTFgoAOBYhBNkqzWbg9z4YsWlUW50vkeEDPc6BBQJrCezPAhsBBQsJCAcCBhUKCQgLAgQWAgMBAh4BAheAAAoJEJ0vkeEDPc6BixYA/RBHjjXVY7U2trFlEEEvoHTEVUQg/QbkKAVZpuDKu2yXAQDZwMjN44n8gBuDLZAxOI3M9J/CCv0wCmPO7HTceddqCrhJBWsJ7M8WAAAAPwMrZXEBxRV5NjH2IHcExdIR6B0JxndEf3ulutHfZW2St8YKMhF9cWmPjrCK5Tr3RdG3hF88VR8X/hoe7QktgIkBIwQYFgoAIBYhBNkqzWbg9z4YsWlUW50vkeEDPc6BBQJrCezPAhsCALUJEJ0vkeEDPc6BqiAFGRYKACkiIQXGzThBorP3ia5yrBOSYDBsE+UVZSWfDvzLcpiMkvK+tgUCawnszwAAu+MByNEweBPymFrng4tNco9t1Rf6gbn2B/I5JFzBipA3+FwqPDZx5beCc9K6yyFbo6fbhwdWEEaWkT74AAHHc3+us1aqn3nZ55SURLO7GR+KNXIENy6pinkxqVPH4PY2zTC5WPjghx7kQvVFn7rUCJe1vPmaJAkAblgBAK8lIgbKggzMwEsWLd7G7pqXFYE6UmbUQqxekv8misYeAQDJuxdLsQeed51dv3vvlKeJDcqrr4OhpuvteDmkQEfoCrhMBWsJ7M8SAAAAQgMrZW8Bv2k7F673qDV/ByVEsuM+ZqtIj+Q/sy0x5x60v372Lax5fTToQHuIV6lsCyRsJvQTnQ2bj6VN0SXOAwEKCYh4BBgWCgAgFiEE2SrNZuD3PhixaVRbnS+R4QM9zoEFAmsJ7M8CGwwACgkQnS+R4QM9zoFEQAEA+jnPhGxBOiG1E5jKdvHjNU7wPQH/plmy/b6GzE3gUVMA/0nysFAAqk0s2M8RlFGjQFCG7xjf1wsM5uibdNaLlsQO', 'base64')
const key = await readKey({ binaryKey: exported })
console.log(`${exported.length} bytes in, ${key.write().length} out, subkeys: ${key.subkeys.length}`)
process.exit(key.subkeys.length === 0 ? 0 : 1)
JS
node look.mjs
