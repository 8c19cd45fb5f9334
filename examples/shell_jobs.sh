#!/bin/sh
# Jobs that need no code on the executors. Try it on one machine:
#
#     sh examples/shell_jobs.sh && shardsched run
#
# What a run is about comes in words of the command, such as {param}, and in environment variables.
set -eu

# A program, once for each item; no shell sees its words, so a parameter cannot become code.
shardsched job create disk-space --cron '0 * * * *' --items 2 --item-param '0=/,1=/tmp' \
    --shell 'df -h {param}'

# A line of /bin/sh, where one is wanted; parameters come in variables, to be quoted as ever.
shardsched job create largest --cron '30 3 * * *' --param /tmp \
    --shell-string 'du -a "$SHARDSCHED_JOB_PARAM" 2>/dev/null | sort -n | tail -n 5'

# Any language: the exit code says how it went, and here 3 says that there was nothing to do.
shardsched job create tidy --cron '@daily' --ok-code 0 --ok-code 3 --env KEEP_DAYS=7 --timeout 600 \
    --shell-string 'test -n "$KEEP_DAYS" && echo "run $SHARDSCHED_RUN_ID, attempt $SHARDSCHED_ATTEMPT"; exit 3'
