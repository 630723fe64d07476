#!/usr/bin/env bash
# Yarn 4.18.1 (npm @yarnpkg/cli-dist) with Plug'n'Play, its default.
# Guess: a program runs as on plain Node: writeFile of node:fs/promises takes an async iterable, a stream or a list of pieces, as documented.
# Seen: TypeError ERR_INVALID_ARG_TYPE. Plug'n'Play replaces the functions of node:fs, and its writeFile calls that with a callback,
# which takes only text and bytes. createWriteStream is Node's, and takes the same pieces from a pipeline.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @yarnpkg/cli-dist@4.18.1
mkdir host
cd host
echo '{ "name": "host", "type": "module" }' > package.json
touch yarn.lock
cat > look.js <<'JS'
import { createWriteStream } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
async function* pieces() {
  yield Buffer.from('one, ')
  yield Buffer.from('two')
}
const outcome = (promise) => promise.then(() => 'written', (error) => error.code)
console.log(await outcome(writeFile('a.txt', pieces())), await outcome(pipeline(pieces(), createWriteStream('b.txt'))))
JS
export YARN_ENABLE_TELEMETRY=0 YARN_ENABLE_IMMUTABLE_INSTALLS=false
yarn() { node ../node_modules/@yarnpkg/cli-dist/bin/yarn.js "$@"; }
yarn install >/dev/null
node=$(node look.js)
pnp=$(yarn node look.js)
echo "Node: $node; Plug'n'Play: $pnp"
[ "$node; $pnp" = 'written written; ERR_INVALID_ARG_TYPE written' ]
