#!/usr/bin/env bash
# MariaDB 10.11.19 of Debian 12: a user who has ALL privileges on both tables of a foreign key, granted on these tables.
# One would guess: information_schema.referential_constraints and table_constraints list the key, as they do for a user with only INSERT on
# the database.
# Seen: both list no foreign key, and no primary key either, while key_column_usage shows them to the same user.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill "${server:-}" 2>/dev/null && wait "$server"; rm -rf "$folder"' EXIT
cd "$folder"
version=1:10.11.19-0+deb12u1
apt-get download -qq "mariadb-server-core=$version" "mariadb-client-core=$version" 2>/dev/null
for package in *.deb; do dpkg -x "$package" .; done
options=(--no-defaults --datadir="$folder/data" --lc-messages-dir="$folder/usr/share/mysql" --socket="$folder/socket" --user="$(id -un)")
usr/bin/mariadb-install-db --no-defaults --basedir="$folder/usr" --datadir="$folder/data" --user="$(id -un)" --auth-root-authentication-method=normal >/dev/null 2>&1
usr/sbin/mariadbd "${options[@]}" --skip-networking >log 2>&1 &
server=$!
as() { usr/bin/mariadb --no-defaults --skip-column-names --socket="$folder/socket" --user="$1" -e "$2"; }
for _ in $(seq 100); do as root 'do 1' 2>/dev/null && break || sleep 0.2; done
as root "
  create database shop;
  create table shop.users (id int primary key);
  create table shop.notes (id int primary key, user_id int, constraint of_user foreign key (user_id) references shop.users (id));
  create user tables@localhost, whole@localhost;
  grant all on shop.users to tables@localhost;
  grant all on shop.notes to tables@localhost;
  grant insert on shop.* to whole@localhost;"
counts="select (select count(*) from information_schema.referential_constraints where constraint_schema = 'shop'),
  (select count(*) from information_schema.table_constraints where constraint_schema = 'shop'),
  (select count(*) from information_schema.key_column_usage where constraint_schema = 'shop')"
tables=$(as tables "$counts")
whole=$(as whole "$counts")
echo "all on each table: $tables; insert on the database: $whole"
[ "$tables" = $'0\t0\t3' ] && [ "$whole" = $'1\t3\t3' ]
