#!/usr/bin/env bash
# What does it cost to print each line once? `furui seen` against other programs, on one file.
#
#   bench/seen.sh FILE [TOOL...]      tools: huniq runiq sort mawk, those that are on the PATH if none is named
#
# For each program the processor time (user and system) of its whole process, and its peak memory, with the output to
# /dev/null and into a pipe; medians of ROUNDS (5) rounds, in each of which every program runs once. The samples go to
# standard error, a Markdown table to standard output. First it is checked that all programs print the same lines.
# Needs GNU time.
set -euo pipefail
export LC_ALL=C

rounds=${ROUNDS:-5}
file=$(realpath "${1:?usage: bench/seen.sh FILE [TOOL...]}")
shift
if (($# == 0)); then
    for tool in huniq runiq sort mawk; do
        if command -v "$tool" >/dev/null; then set -- "$@" "$tool"; fi
    done
fi
tools=(furui "$@")
cd "$(dirname "$0")/.."
cargo build --release --quiet
furui=${CARGO_TARGET_DIR:-target}/release/furui
samples=$(mktemp) sample=$(mktemp)
trap 'rm -f "$samples" "$sample"' EXIT

# Reads standard input, prints each line of it once.
set_command() {
    case $1 in
    furui) command=("$furui" seen) ;;
    huniq) command=(huniq) ;;
    runiq) command=(runiq) ;;
    sort) command=(sort -u -S 1G) ;;
    mawk) command=(mawk '!seen[$0]++') ;;
    *) echo "unknown tool: $1" >&2 && exit 2 ;;
    esac
}

# The lines of the program named first are those of furui: in the same order, but for sort.
check() {
    set_command "$1"
    local order=cat
    if [[ $1 == sort ]]; then order="sort -S 1G"; fi
    cmp <("${command[@]}" <"$file") <("$furui" seen <"$file" | $order) || { echo "$1 prints other lines" >&2 && exit 1; }
}

# A sample: program, sink, seconds of processor time, KiB.
measure() {
    set_command "$1"
    case $2 in
    null) command time -o "$sample" -f '%U %S %M' "${command[@]}" <"$file" >/dev/null ;;
    pipe) command time -o "$sample" -f '%U %S %M' "${command[@]}" <"$file" | cat >/dev/null ;;
    esac
    awk -v name="$1" -v sink="$2" '{ printf "%s %s %.2f %d\n", name, sink, $1 + $2, $3 }' "$sample" | tee -a "$samples" >&2
}

for tool in "${tools[@]:1}"; do check "$tool"; done
read -r lines bytes < <(wc -lc <"$file")
distinct=$("$furui" seen <"$file" | wc -l)
for ((round = 0; round < rounds; round++)); do
    for sink in null pipe; do
        for tool in "${tools[@]}"; do measure "$tool" "$sink"; done
    done
done

echo "$lines lines, $distinct distinct, $bytes bytes; median of $rounds rounds; x is the multiple of huniq's"
echo
awk -v order="${tools[*]}" -v distinct="$distinct" '
    { key = $1 " " $2; n[key]++; cpu[key, n[key]] = $3; memory[key, n[key]] = $4 }
    function median(values, key,    i, j, kept, sorted) {
        for (i = 1; i <= n[key]; i++) {
            kept = values[key, i]
            for (j = i; j > 1 && sorted[j - 1] > kept; j--) sorted[j] = sorted[j - 1]
            sorted[j] = kept
        }
        return sorted[int((n[key] + 1) / 2)]
    }
    function times(values, tool, sink) {
        if (!(("huniq " sink) in n)) return "-"
        return sprintf("%.3f", median(values, tool " " sink) / median(values, "huniq " sink))
    }
    END {
        print "| program | to /dev/null, s of CPU | x | into a pipe, s of CPU | x | peak memory, MiB | bytes a distinct line | x |"
        print "|---|---|---|---|---|---|---|---|"
        count = split(order, tools, " ")
        for (t = 1; t <= count; t++) {
            tool = tools[t]
            kib = median(memory, tool " null")
            printf "| %s | %.2f | %s | %.2f | %s | %.1f | %.1f | %s |\n", tool,
                median(cpu, tool " null"), times(cpu, tool, "null"), median(cpu, tool " pipe"), times(cpu, tool, "pipe"),
                kib / 1024, kib * 1024 / distinct, times(memory, tool, "null")
        }
    }' "$samples"
