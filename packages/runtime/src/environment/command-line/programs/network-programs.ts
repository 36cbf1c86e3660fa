import type { ProgramEntry, ProgramForm } from "./program-entry.ts";

const shown: ProgramForm = {
  flags: "-c -d --comments --exit-status --failed --log --log-failed --name-only --patch --verbose",
  values: {
    plain:
      "-a -A -b -B -H -l -L -R -s -S --assignee --author --base --branch --head --job --json --jq --label --limit --repo --search --state --workflow -q -w",
  },
  operands: "plain...",
};

/** Programs that connect to hosts or to a server on the machine. Only their versions are printed unasked. */
export const networkPrograms: readonly ProgramEntry[] = [
  {
    // `-K` reads options from a file, `-T`, `-F` and `-b` send files; a value that begins with `@` is the name of a file.
    names: "curl",
    flags: `-# -4 -6 -f -G -g -i -I -j -L -N -O -s -S -v
      --compressed --disable --fail --fail-with-body --get --globoff --head --http1.1 --http2 --include --ipv4 --ipv6 --location
      --no-buffer --no-progress-meter --progress-bar --remote-name --show-error --silent --tlsv1.2 --tlsv1.3 --verbose`,
    values: {
      text: "--data-raw",
      data: "-d -H -w --data --data-ascii --data-binary --header --json --write-out",
      plain: "-A -e -r -X --range --referer --request --user-agent",
      number: "-m --connect-timeout --limit-rate --max-redirs --max-time --retry --retry-delay --retry-max-time",
      host: "--url",
      write: "-o --output --output-dir",
    },
    operands: "host...",
    here: { kind: "write", with: "-O --remote-name" },
    alone: "--help --version -h -V",
  },
  {
    names: "wget",
    flags: "-4 -6 -c -N -nc -nv -q -S -v --continue --no-clobber --no-verbose --quiet --server-response --spider --timestamping --verbose",
    values: {
      plain: "-U --method --user-agent",
      number: "-T -t -w --timeout --tries --wait",
      write: "-O -P --directory-prefix --output-document",
    },
    operands: "host...",
    here: { kind: "write" },
    alone: "--help --version -h -V",
  },
  {
    names: "ping",
    flags: "-4 -6 -n -q",
    values: { number: "-c -i -s -t -W -w" },
    operands: "host",
    alone: "-V",
  },
  // `-o`, `-F` and `-E` name settings, by which it starts programs of the machine. What follows the host runs there.
  {
    names: "ssh",
    flags: "-4 -6 -A -C -N -q -t -T -v",
    values: { number: "-p", plain: "-l", read: "-i" },
    operands: "host plain...",
    alone: "-V",
  },
  { names: "dig host nslookup", flags: "+short +trace -4 -6", operands: "host plain" },
  {
    names: "gh",
    subcommands: {
      "pr": { subcommands: { "view list status checks diff": shown } },
      "issue": { subcommands: { "view list status": shown } },
      "run": { subcommands: { "view list": shown } },
      "release workflow repo label": { subcommands: { "view list": shown } },
    },
    alone: "--help --version",
  },
  {
    // `run` and `exec` start anything in a container, and `-v` puts folders of the machine into it.
    names: "docker podman",
    subcommands: {
      "ps images": {
        flags: "-a -l -q -s --all --latest --no-trunc --quiet --size",
        values: { plain: "-f --filter --format", number: "-n --last" },
      },
      "logs": {
        flags: "-f -t --details --follow --timestamps",
        values: { plain: "-n --since --tail --until" },
        operands: "plain",
      },
      "version info": {},
      "stop start restart": { flags: "-a", values: { number: "-t --time" }, operands: "plain..." },
      "compose": {
        subcommands: {
          "ps images top": { flags: "-a -q --all --quiet", operands: "plain..." },
          "logs": { flags: "-f -t --follow --no-color --timestamps", values: { plain: "-n --tail --since" }, operands: "plain..." },
          "up": {
            flags: "-d --build --detach --force-recreate --no-build --no-deps --no-recreate --quiet-pull --remove-orphans --wait",
            operands: "plain...",
          },
          "down stop start restart pull build": { flags: "-q --no-cache --quiet --remove-orphans", operands: "plain..." },
        },
      },
    },
    alone: "--version -v",
  },
];
