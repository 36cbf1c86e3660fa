#!/usr/bin/env bash
# Runs a program when it has its turn, which is over when the program is: in-turn.sh <port> <program> [argument...]
# Whoever gives turns listens on the port. The program holds the connection, so that nobody has to say that it ended.
exec 3<>"/dev/tcp/127.0.0.1/$1"
read -r -u 3
exec "${@:2}"
