#!/bin/sh
# Three caches on loopback, each a process of its own, that ask each other only for what may be there (docs/digests.md).
#
# usage: digests.sh [FURUI]     FURUI is the command, by default `furui`; python3 and curl are also needed
set -eu
furui=${1:-furui}
work=$(mktemp -d)
servers=
trap 'kill $servers 2>/dev/null || true; rm -rf "$work"' EXIT

# A cache has pages, and serves them, and a digest of their URLs, over HTTP.
cache() { # NAME FIRST LAST: the cache NAME has the pages FIRST to LAST
    mkdir -p "$work/$1/page"
    seq "$2" "$3" | while read -r i; do echo "page $i" > "$work/$1/page/$i"; done
    (cd "$work/$1" && find page -type f) > "$work/$1.urls"
    # All digests have the size for the pages of all caches, because only filters of one size can be united.
    "$furui" filter build --kind bloom --capacity 1000 -o "$work/$1/digest" "$work/$1.urls"
    python3 -u -m http.server --bind 127.0.0.1 --directory "$work/$1" 0 > "$work/$1.log" 2> "$work/$1.requests" &
    servers="$servers $!"
    until grep -q 'port [0-9]' "$work/$1.log"; do sleep 0.05; done
    sed -n 's/.*port \([0-9]*\).*/http:\/\/127.0.0.1:\1/p' "$work/$1.log" > "$work/$1.address"
}
address() { cat "$work/$1.address"; }
cache root 1 100
cache east 101 400
cache west 401 700

# Upward: the root fetches the digests of those below it, and unites them with its own by OR.
for leaf in east west; do curl -sS -o "$work/$leaf.digest" "$(address $leaf)/digest"; done
"$furui" union "$work/root/digest" "$work/east.digest" "$work/west.digest" -o "$work/root/below"
curl -sS -o "$work/below" "$(address root)/below"
"$furui" info "$work/below"

# Downward: a query goes only where a digest says that the page may be.
seq 1 1400 | sed 's/^/page\//' > "$work/wanted"
"$furui" has "$work/below" "$work/wanted" > "$work/maybe-below"
cp "$work/root/digest" "$work/root.digest"
for one in root east west; do
    "$furui" has "$work/$one.digest" "$work/maybe-below" > "$work/$one.ask"
    sed "s|.*|url = \"$(address $one)/&\"\noutput = /dev/null|" "$work/$one.ask" |
        curl -sS -K - -w '%{http_code}\n' > "$work/$one.codes"
    grep -cx 200 "$work/$one.codes" >> "$work/found"
done
asked=$(cat "$work"/*.ask | wc -l)
found=$(awk '{ sum += $1 } END { print sum }' "$work/found")
echo "1400 pages wanted of 3 caches: $asked requests in place of 4200, $found pages found of 700"
[ "$found" = 700 ] && [ "$asked" -lt 800 ]

# A digest that is full says yes to everything: its cache is asked as often as without a digest, and nothing is lost.
seq 1 200000 | "$furui" filter build --capacity 100 -o "$work/full" 2> /dev/null
[ "$("$furui" has --count "$work/full" "$work/wanted")" = 1400 ]
