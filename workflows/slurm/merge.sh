#!/bin/sh
#SBATCH --job-name=mireg-merge
#SBATCH --output=mireg-%j.log
#SBATCH --time=0:30:00
# Writes batch.tsv and index.html of all pairs. It fails if a pair failed, should not be used, or was not reached.
table=$1 out=$2
shift 2
exec mireg batch "$table" --out "$out" --merge "$@"
