#!/bin/sh
# Registers the pairs of a table by the tasks of a Slurm array, and sums up when all of them have ended.
#   submit.sh TABLE DIR TASKS [OPTION of mireg batch...]
set -eu
[ $# -ge 3 ] || { sed -n 3p "$0" >&2; exit 2; }
here=$(dirname "$(realpath "$0")") table=$1 out=$2 tasks=$3
shift 3

# A wrong table is told of here rather than by each task. Exit code 1 says that pairs are waiting, as they should.
said=$(mireg batch "$table" --out "$out" --merge --quiet "$@" 2>&1) || [ $? -eq 1 ] || { printf '%s\n' "$said" >&2; exit 2; }

array=$(sbatch --parsable --array="1-$tasks" "$here/array.sh" "$table" "$out" "$tasks" "$@")
# After any end, since a task in which a pair failed has failed.
merge=$(sbatch --parsable --dependency="afterany:$array" "$here/merge.sh" "$table" "$out" "$@")
echo "array $array, summary $merge"
