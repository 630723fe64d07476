#!/usr/bin/env bash
# openpgp 6.3.2 (npm), in Node.
# Guess: the curves of enums.curve, such as brainpoolP256r1, which crypto.getCurves() of Node has too, can be used.
# Seen: generating a key fails with "Cannot find module 'eckey-utils'", which is no dependency of the package. For
# the same reason its own verify() says of every signature by such a key that it is not valid.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund openpgp@6.3.2
cat > look.mjs <<'JS'
import { getCurves } from 'node:crypto'
import { enums, generateKey } from 'openpgp'
const curve = enums.curve.brainpoolP256r1
const said = await generateKey({ type: 'ecc', curve, userIDs: { name: 'Forge' } }).then(() => 'a key', (error) => error.message)
console.log(`Node has ${curve}: ${getCurves().includes(curve)}; generateKey: ${said.split('\n')[0]}`)
process.exit(getCurves().includes(curve) && said.includes('eckey-utils') ? 0 : 1)
JS
node look.mjs
