#!/bin/sh
#SBATCH --job-name=mireg
#SBATCH --output=mireg-%A_%a.log
#SBATCH --cpus-per-task=4
#SBATCH --mem=8G
#SBATCH --time=4:00:00
##SBATCH --gpus=1
# Registers every Nth pair of a table. One task may be submitted again: sbatch --array=3 array.sh TABLE DIR N [OPTION...]
table=$1 out=$2 tasks=$3
shift 3
exec mireg batch "$table" --out "$out" --shard "$SLURM_ARRAY_TASK_ID/$tasks" --retry-failed --threads "${SLURM_CPUS_PER_TASK:-1}" "$@"
