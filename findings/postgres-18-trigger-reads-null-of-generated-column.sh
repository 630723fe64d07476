#!/usr/bin/env bash
# PostgreSQL 18 (PGlite 0.5.14): a trigger after each inserted row, on a table with `b int generated always as (a * 2)`, as it is written without
# a last word.
# One would guess: behind the row, the trigger reads the value in `new.b`, as it did of every generated column until 17; or it is an error.
# Seen: `new.b` is null without an error, while the row that a query finds has the value. With `stored` as the last word it is there, which until 17
# had to be written. A check in a trigger that lets null pass lets every row pass.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --no-package-lock --prefix . @electric-sql/pglite@0.5.14 >/dev/null
cat >run.mjs <<'JS'
import { PGlite } from '@electric-sql/pglite'

const database = new PGlite()
await database.exec(`create table seen (by text, plain int, stored int);
  create table pairs (a int, b int generated always as (a * 2), c int generated always as (a * 2) stored);
  create function note() returns trigger language plpgsql as
    $$ begin insert into seen values ('the trigger', new.b, new.c); return null; end $$;
  create trigger noting after insert on pairs for each row execute function note();
  insert into pairs (a) values (21);
  insert into seen select 'a query', b, c from pairs`)
const { rows } = await database.query('select * from seen')
console.log(rows)
const isAsSeen = rows[0].plain === null && rows[0].stored === 42 && rows[1].plain === 42
process.exit(isAsSeen ? 0 : 1)
JS
node run.mjs
