#!/usr/bin/env bash
# PostgreSQL 18 (PGlite 0.5.14): `format_type()`, which names the type of a column, where a role or a database has set
# `quote_all_identifiers = on`, which is documented for SQL that the database generates.
# One would guess: the answer stays `text`, or all names are quoted.
# Seen: the names that the SQL standard writes as keywords stay (`bigint`, `character varying(20)`, `timestamp with time zone`), and the others
# are quoted: `"text"`, `"uuid"`, `"jsonb"`, `"date"`. Code that compares the answer with 'text' finds another type, without an error;
# `typname` of `pg_type` stays as it is.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --no-package-lock --prefix . @electric-sql/pglite@0.5.14 >/dev/null
cat >run.mjs <<'JS'
import { PGlite } from '@electric-sql/pglite'

const database = new PGlite()
await database.exec(`create table notes
  (a bigint, b varchar(20), c timestamptz, d text, e uuid, f jsonb, g date)`)
const types = async () => {
  const { rows } = await database.query(`select format_type(atttypid, atttypmod) as type, typname as name
    from pg_attribute join pg_type on pg_type.oid = atttypid where attrelid = 'notes'::regclass and attnum > 0 order by attnum`)
  return [rows.map(({ type }) => type).join(), rows.map(({ name }) => name).join()]
}
const before = await types()
await database.exec('set quote_all_identifiers = on')
const after = await types()
console.log([...before, ...after].join('\n'))
const isAsSeen =
  before[0] === 'bigint,character varying(20),timestamp with time zone,text,uuid,jsonb,date' &&
  after[0] === 'bigint,character varying(20),timestamp with time zone,"text","uuid","jsonb","date"' &&
  before[1] === after[1]
process.exit(isAsSeen ? 0 : 1)
JS
node run.mjs
