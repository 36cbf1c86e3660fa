import { describe, expect, it } from "vitest";
import { readCommandLine } from "./read-command-line.ts";

async function read(line: string) {
  const { commands = [], reads = [], unknown } = await readCommandLine(line, { cwd: "/project" });
  const unlisted = commands.flatMap((command) => command.unlisted ?? []);
  return { texts: commands.map(({ text }) => text), reads, unlisted, isUnderstood: unknown === undefined && unlisted.length === 0 };
}

describe("a word that the line computes from what is written in it", () => {
  it.each([
    ["x=a.txt; cat $x", ["/project/a.txt"]],
    ['x="a b"; cat "$x"', ["/project/a b"]],
    ["d=src; cat ${d}/a.ts", ["/project/src/a.ts"]],
    ["x=a && cat $x", ["/project/a"]],
    ["for f in a b; do cat $f; done", ["/project/a", "/project/b"]],
    ['for f in src/*.ts; do head -3 "$f"; done', ["/project/src/*.ts"]],
    ["x=a; (cat $x)", ["/project/a"]],
    ["cat a{1..3}", ["/project/a1", "/project/a2", "/project/a3"]],
    ["for i in {2..1}; do cat $i; done", ["/project/2", "/project/1"]],
    ["diff <(sort a) <(sort b)", ["/project/a", "/project/b"]],
    ["x=a; f() { cat $x; }; f", ["/project/a"]],
    ["cat $'a\\tb'", ["/project/a\tb"]],
    ["cat \"$(cat <<'E'\na b\n\nE\n)\"", ["/project/a b"]],
    ['cat "$(cat <<"E"\na\nE\n)"', ["/project/a"]],
    ["cat $(cat <<E\na\nE\n)", ["/project/a"]],
  ])("is understood in %s", async (line, reads) => {
    expect(await read(line)).toMatchObject({ reads, isUnderstood: true });
  });

  it("may be the message of a commit", async () => {
    const { texts, isUnderstood } = await read("git commit -m \"$(cat <<'EOF'\nFix `x`\n\nIt costs $5.\nEOF\n)\"");
    expect(texts).toContain("git commit -m Fix `x`\n\nIt costs $5.");
    expect(isUnderstood).toBe(true);
  });

  it.each([
    ...["cat $x", "cat $1", 'cat "$HOME"', "x=$(date); cat $x", "x=a; x=b; cat $x", "read x; cat $x", "x=a; read x; cat $x"],
    ...["x=a | true; cat $x", "(x=a); cat $x", "x=a & cat $x", "true && x=a; cat $x", "if true; then x=a; fi; cat $x"],
    ...[
      "cat $x; x=a",
      "x=a cat $x",
      "for x in a; do :; done; cat $x",
      "for x in a $y; do cat $x; done",
      "x='a b'; cat $x",
      "x='*'; cat $x",
    ],
    ...["_=a; cat $_", "x=a; bash -c 'cat $x'", "x=a; read -ax; cat $x", "x=a; printf -vx b; cat $x", "f() { x=b; }; x=a; f; cat $x"],
    ...["x=~/a; cat $x", "x+=a; cat $x", "x[0]=a; cat $x", "cat ${x:-a}", "declare x=a; cat $x", "x=a; unset x; cat $x"],
    ...["cat() { :; }; head $(cat <<'E'\na\nE\n)", "cat $(cat a <<'E'\nb\nE\n)", "cat $(cat <<E\n$x\nE\n)", "cat $(cat <<'E'\na b\nE\n)"],
    ...[
      "cat .{e..e}nv",
      "cat {01..02}",
      "cat {1..99999}",
      "cat {1..2}{1..2}",
      "cat {1..9..2}",
      "cat x<(sort a)",
      "x=a; trap $'\\x78=.env' DEBUG; cat $x",
    ],
    ...["x=a; read {x,y}; cat $x", "x=a; eval x=b; cat $x", "x=a; while true; do cat $x; x=b; done"],
  ])("is not understood in %s", async (line) => {
    expect(await read(line)).toMatchObject({ isUnderstood: false });
  });
});

describe("a calculation", () => {
  it.each([
    ...[
      "echo $((1 + 2))",
      "((i = 0)); echo $((i + 1))",
      "for ((i = 0; i < 3; i++)); do echo $i; done",
      "i=0; while ((i < 3)); do ((i++)); done",
    ],
    ...["for i in 1 2 3; do echo $((i * 2)); done", "x=5; [[ $x -gt 3 ]]", "[[ $? -eq 0 ]]", "n=-1; let n=n+1", 'echo "$((0x1f))"'],
  ])("is understood in %s", async (line) => {
    expect((await readCommandLine(line, { cwd: "/project" })).unknown).toBeUndefined();
  });

  it.each([
    ...[
      "echo $((x))",
      "x=a; echo $((x))",
      "read x; echo $((x))",
      "((REPLY > 0))",
      "REPLY=1; echo $((REPLY))",
      "echo $((_))",
      "_=1; echo $((_))",
    ],
    ...[
      "[[ a =~ . ]] && ((BASH_REMATCH))",
      "BASH_REMATCH=1; ((BASH_REMATCH))",
      "mapfile < a; echo $((MAPFILE))",
      "((OPTARG))",
      "echo $(($1))",
    ],
    ...[
      "for x in 1 a; do ((x)); done",
      "x=1; x=$y; ((x))",
      "x=1; read x; ((x))",
      "[[ $x -eq 1 ]]",
      "[[ (-v x) ]]",
      "let x",
      "a[x]=1",
      "((x = y))",
    ],
    ...["x=1; mapfile x; ((x))", "[[ x = 1 && y -eq 1 ]]"],
  ])("is not understood in %s", async (line) => {
    expect((await readCommandLine(line, { cwd: "/project" })).unknown).toBeDefined();
  });
});

describe("a builtin of the shell", () => {
  it.each([
    ...[
      "jobs -x ls",
      "wait -p PATH",
      "wait -p 'a[0]' -n",
      "declare -a 'a=([$(x)]=1)'",
      "declare -i x=1",
      "declare -n x=y",
      "read 'x'",
      "read PATH",
    ],
    ...[
      "printf -v PATH x",
      "printf %n x",
      'printf "$x"',
      "mapfile -C x a",
      "hash -p ./x ls",
      "set -k",
      "set -a",
      "set -o posix",
      "export FOO=1",
    ],
    ...[
      "export PATH",
      "readonly -a 'a=([$(x)]=1)'",
      "type -x ls",
      "[ $x = a ]",
      '[ "$x" "$y" ]',
      "[ -v 'a[$(x)]' ]",
      "[ a",
      "command -x ls",
    ],
    ...["exec -z ls", "getopts a PATH", "history", "complete -C ./x ls", "compgen -W '$(x)'", "fc -s", "bind -x x", "umask -x"],
  ])("is not understood in %s", async (line) => {
    const { commands = [], unknown } = await readCommandLine(line, { cwd: "/project" });
    expect(unknown === undefined && commands.every(({ readOnly }) => readOnly === true)).toBe(false);
  });

  it.each([
    ...[
      "jobs -l",
      "wait $!",
      "declare -a x",
      "read -r x",
      "read -ra parts",
      "printf '%s %d\\n' a 1",
      "printf -- '%5.2f' 1",
      "set -euo pipefail",
      "set -- a b",
    ],
    ...[
      "[ -f a ] && echo yes",
      '[ "$x" = a ]',
      '[ -z "$x" ]',
      '[ ! -d "$x" ]',
      "[ a = b -o c = d ]",
      "test -e a",
      "type -a ls",
      "command -v ls",
      "exit $?",
    ],
    ...[
      "true | xargs echo",
      "env CI=1 ls",
      "timeout 5 ls",
      "nice -n 5 ls",
      "export CI=1",
      "shopt -s nullglob",
      "echo $x -z $(date)",
      "trap 'echo x' EXIT",
    ],
    ...["bash -c 'ls -l'", "bash -euo pipefail -c 'ls'", "command -p ls", "exec ls", "stdbuf -oL ls", "umask 077"],
  ])("runs unasked in %s", async (line) => {
    const { commands = [], unknown } = await readCommandLine(line, { cwd: "/project" });
    expect({ unknown, asked: commands.filter(({ readOnly }) => readOnly !== true) }).toEqual({ unknown: undefined, asked: [] });
  });
});
