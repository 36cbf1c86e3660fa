import type { ProgramEntry } from "./program-entry.ts";

/** Programs that print facts about time, numbers, users, processes and the machine. */
export const systemPrograms: readonly ProgramEntry[] = [
  {
    // `-s` and operands without a plus set the clock; `-f` reads lines of a file and prints those that are no dates.
    names: "date",
    unasked: true,
    flags: "-j -n -R -u --debug --resolution --rfc-2822 --rfc-email --universal --utc",
    values: { text: "-d -v --date --rfc-3339", look: "-r --reference" },
    optional: { text: "-I --iso-8601" },
    operands: "format",
    alone: "--help --version",
  },
  { names: "cal ncal", unasked: true, flags: "-1 -3 -b -h -j -m -M -N -s -S -w -y", operands: "number number" },
  {
    names: "seq",
    unasked: true,
    flags: "-w --equal-width",
    values: { text: "-f -s --format --separator" },
    operands: "number number number",
    alone: "--help --version",
  },
  { names: "expr", unasked: true, anything: true, operands: "text...", alone: "--help --version" },
  { names: "factor", unasked: true, flags: "-h --exponents", operands: "number...", alone: "--help --version" },
  {
    names: "numfmt",
    unasked: true,
    flags: "-z --debug --grouping --zero-terminated",
    values: {
      text: "-d --delimiter --field --format --from --invalid --padding --round --suffix --to",
      number: "--from-unit --to-unit",
    },
    optional: { number: "--header" },
    operands: "number...",
    alone: "--help --version",
  },
  { names: "yes", unasked: true, operands: "plain...", alone: "--help --version" },
  { names: "sleep", unasked: true, anything: true, operands: "number...", alone: "--help --version" },
  {
    names: "shuf",
    unasked: true,
    flags: "-e -r -z --echo --repeat --zero-terminated",
    values: { text: "-i --input-range", number: "-n --head-count", write: "-o --output" },
    operands: "read",
    operandsWith: { "-e --echo": "text..." },
    destroys: "files",
    alone: "--help --version",
  },
  {
    names: "uname",
    unasked: true,
    flags: `-a -i -m -n -o -p -r -s -v
      --all --hardware-platform --kernel-name --kernel-release --kernel-version --machine --nodename --operating-system --processor`,
    alone: "--help --version",
  },
  { names: "sw_vers", unasked: true, flags: "-buildVersion -productName -productVersion", singleDash: true },
  { names: "arch whoami logname tty users", unasked: true, alone: "--help --version" },
  {
    names: "id",
    unasked: true,
    flags: "-a -g -G -n -p -P -r -u -z --group --groups --name --real --user --zero",
    operands: "plain...",
    alone: "--help --version",
  },
  { names: "groups", unasked: true, operands: "plain...", alone: "--help --version" },
  // An operand sets the name, other options ask a name server.
  { names: "hostname", unasked: true, flags: "-s", alone: "--help --version" },
  { names: "nproc", unasked: true, flags: "--all", values: { number: "--ignore" }, alone: "--help --version" },
  { names: "uptime", unasked: true, flags: "-p -s --pretty --since", alone: "--help --version" },
  {
    names: "free",
    unasked: true,
    flags: "-b -g -h -k -l -m -t -w --bytes --gibi --giga --human --kibi --kilo --lohi --mebi --mega --si --total --wide",
    values: { number: "-c -s --count --seconds" },
    alone: "--help --version",
  },
  { names: "locale", unasked: true, flags: "-a -m --all-locales --charmaps", operands: "plain...", alone: "--help --version" },
  { names: "getconf", unasked: true, flags: "-a", operands: "plain text" },
  // `init` and `reset` may start the program that the description of the terminal names.
  { names: "tput", unasked: true, alone: "-V bold clear cols colors lines sgr0" },
  {
    // `ps` shows environments with the letter `e` as an option of BSD. If it does not understand an option it reads all of
    // its arguments once more in that way, `-e` too. So `-e` is understood only in argument lists that it never reads twice.
    names: "ps",
    unasked: true,
    flags: "-A",
    values: { number: "-p --pid --ppid" },
    alone: "a ax aux auxw auxww axu aux x -e -ef -efww -A -Af -aux -Aj -ely --version -V",
  },
  { names: "pgrep", unasked: true, flags: "-a -c -f -i -l -n -o -v -x", operands: "text", alone: "--help --version -V" },
  { names: "pidof", unasked: true, flags: "-s -x", operands: "plain..." },
  { names: "lsof", unasked: true, flags: "-n -P -t", values: { text: "-i", number: "-p" }, alone: "-i -v" },
  {
    names: "ss",
    unasked: true,
    flags: "-4 -6 -a -H -l -n -p -s -t -u -x --all --listening --numeric --processes --summary --tcp --udp --unix",
    alone: "--help --version -V",
  },
  // `-n` keeps it from asking a name server.
  {
    names: "netstat",
    unasked: true,
    needs: "-n --numeric",
    flags: "-4 -6 -a -l -n -p -r -t -u -x --all --listening --numeric --programs --tcp --udp",
    alone: "--help --version -V",
  },
  { names: "vmstat", unasked: true, flags: "-a -s -w", operands: "number number", alone: "--help --version -V" },
  { names: "lscpu lsblk lsmem", unasked: true, alone: "--help --version -V" },
  { names: "w who", unasked: true, flags: "-H -b -h -q -s -u", alone: "--help --version" },
];
