#!/usr/bin/env python3
"""deform.py run --peers a,b --cases tps-t2,... [--threads 2] [--timeout 900]   append to --json
   deform.py table                                                               Markdown table of --json
   deform.py score CASE DIR                                                      errors of a folder that mireg deform wrote

Each registration runs in a fresh process. register_s is the peer's own call, process_s the whole process (interpreter,
import, files), cpu_s its user and system time. README.md says what is needed."""
import argparse
import json
import os
import shutil
import subprocess
import sys
import threading
import time

import deform_error

HERE = os.path.dirname(os.path.abspath(__file__))


def measure(peer, case, args):
    """Run one registration in its own process, pinned to as many cores as it has threads."""
    out = os.path.join(args.out, case, peer)
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    row = dict(date=time.strftime('%Y-%m-%d %H:%M'), case=case, peer=peer, threads=args.threads, load=os.getloadavg()[0])
    cores = sorted(os.sched_getaffinity(0))[: args.threads]
    command = [sys.executable, f'{HERE}/deform_peer.py', peer, case, args.data, str(args.threads), out]
    start = time.perf_counter()
    with open(f'{out}/log', 'w') as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, preexec_fn=lambda: os.sched_setaffinity(0, cores))
        timer = threading.Timer(args.timeout, process.kill)
        timer.start()
        _, status, used = os.wait4(process.pid, 0)
        timer.cancel()
    row |= dict(process_s=time.perf_counter() - start, cpu_s=used.ru_utime + used.ru_stime, memory_mb=used.ru_maxrss // 1024)
    row |= dict(load_after=os.getloadavg()[0])
    if status:
        return row | dict(failed=f'status {status}, see {out}/log')
    row |= json.load(open(f'{out}/peer.json'))
    return row | deform_error.evaluate(deform_error.cases(args.data)[case], out)


def run(args):
    rows = json.load(open(args.json)) if os.path.exists(args.json) else []
    for case in args.cases.split(','):
        for peer in args.peers.split(','):
            rows.append(measure(peer, case, args))
            json.dump(rows, open(args.json, 'w'), indent=1)
            print(json.dumps(rows[-1]), flush=True)


COLUMNS = {
    'register s': ('register_s', '.1f'),
    'process s': ('process_s', '.1f'),
    'CPU s': ('cpu_s', '.0f'),
    'Dice': ('dice', '.3f'),
    'mean': ('after_mean', '.3f'),
    'median': ('after_median', '.3f'),
    '95 %': ('after_p95', '.2f'),
    'max': ('after_max', '.2f'),
    'outside': ('outside_after_mean', '.2f'),
    'Jacobian min': ('jacobian_min', '.3f'),
    'max ': ('jacobian_max', '.2f'),
    '<= 0': ('folded', 'd'),
    'inverse': ('inverse_consistency', '.3f'),
    'load before': ('load', '.1f'),
    'load after': ('load_after', '.1f'),
}


def table(args):
    rows = json.load(open(args.json))
    for case in dict.fromkeys(r['case'] for r in rows):
        mine = [r for r in rows if r['case'] == case]
        before = next((r for r in mine if 'before_mean' in r), None)
        columns = {k: v for k, v in COLUMNS.items() if any(v[0] in r for r in mine)}
        labelled = next((r for r in mine if 'before_dice' in r), None)
        if labelled:
            print(f"\n{case}: before Dice {labelled['before_dice']:.3f}\n")
        if before:
            outside = f", outside {before['outside_before_mean']:.2f}" if 'outside_before_mean' in before else ''
            print(f"\n{case}: before {before['before_mean']:.2f} mm (max {before['before_max']:.1f}){outside}\n")
        print('| peer | ' + ' | '.join(columns) + ' |')
        print('|---' * (len(columns) + 1) + '|')
        for r in mine:
            cells = [format(r[key], form) if key in r else '' for key, form in columns.values()]
            print(f"| {r['peer']} | " + ' | '.join(cells) + ' |' + (f" {r['failed']}" if 'failed' in r else ''))


def score(args):
    e = deform_error.evaluate(deform_error.cases(args.data)[args.case], args.folder)
    if 'dice' in e:
        print(f"{args.case} Dice {e['before_dice']:.4f} -> {e['dice']:.4f}, Jacobian {e['jacobian_min']:.3f} to {e['jacobian_max']:.3f}")
        return
    outside = f" outside {e['outside_before_mean']:.2f} -> {e['outside_after_mean']:.3f}" if 'outside_after_mean' in e else ''
    inverse = f" inverse {e['inverse_consistency']:.4f}" if 'inverse_consistency' in e else ''
    print(
        f"{args.case} before {e['before_mean']:.3f} mm, after mean {e['after_mean']:.4f} median {e['after_median']:.4f}"
        f" p95 {e['after_p95']:.3f} max {e['after_max']:.2f}{outside},"
        f" Jacobian {e['jacobian_min']:.3f} to {e['jacobian_max']:.3f}, {e['folded']} <= 0{inverse}"
    )


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--data', default=os.environ.get('MIREG_DATA'), help='the data folder; default: MIREG_DATA')
    p.add_argument('--json', default='peers_deform.json')
    p.add_argument('--out', default='peers_deform', help='folder for the fields')
    verbs = p.add_subparsers(required=True)
    r = verbs.add_parser('run')
    r.add_argument('--peers', required=True)
    r.add_argument('--cases', required=True)
    r.add_argument('--threads', type=int, default=2)
    r.add_argument('--timeout', type=float, default=1800)
    r.set_defaults(go=run)
    verbs.add_parser('table').set_defaults(go=table)
    s = verbs.add_parser('score')
    s.add_argument('case')
    s.add_argument('folder')
    s.set_defaults(go=score)
    args = p.parse_args()
    if args.go is not table and not args.data:
        p.error('name the data folder by --data or MIREG_DATA')
    args.go(args)


if __name__ == '__main__':
    main()
