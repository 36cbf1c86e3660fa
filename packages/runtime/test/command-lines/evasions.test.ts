import { readFileSync } from "node:fs";
import type { CallEffects } from "@keelson/protocol";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { sampleSize, seed } from "../../../../test/tier.ts";
import { compilePolicy, decidePermission } from "../../src/agent/index.ts";
import { readCommandLine } from "../../src/environment/index.ts";
import { linesThatRunEvil } from "./evil-in-bash.ts";
import { judgeBy } from "./judge.ts";

const cwd = "/home/somebody/project";
/** What a person would have who forbids one program and allows the rest. */
const guarded = judgeBy(["allow bash", "deny bash(evil*)"], cwd);
/** The same by a policy file, which has no rule about it. */
const policies = [
  compilePolicy({ mode: "default", rules: [{ pattern: "bash", behavior: "allow" }], bounds: { commands: { denied: ["evil"] } } }),
];
const tool = { name: "bash", effect: "write", risk: "high", category: "shell" } as const;
const bound = (line: string, effects: CallEffects) => decidePermission({ policies, tool, argumentText: line, effects, cwd }).behavior;
const others = [judgeBy([], cwd), judgeBy(["allow bash(npm test*)", "allow bash(git status*)", "allow bash(echo*)"], cwd)];
const planning = judgeBy([], cwd, "plan-only");

/** A line of the file is a command line; blanks that an editor would change stand for themselves as signs. */
const corpus = readFileSync(new URL("evasions.txt", import.meta.url), "utf8")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("## "))
  .map((line) => line.replaceAll("⏎", "\n").replaceAll("⇥", "\t"));

/** What the rules let through of lines in which evil ran, with the rules that did. */
async function letThrough(lines: readonly string[]): Promise<readonly string[]> {
  const through: string[] = [];
  for (const line of lines) {
    const effects = await readCommandLine(line, { cwd });
    if (guarded.of(line, effects) === "allow") through.push(`deny rule: ${line}`);
    if (bound(line, effects) === "allow") through.push(`policy file: ${line}`);
    if (others.some((judge) => judge.of(line, effects) === "allow")) through.push(`no rule for it: ${line}`);
    if (planning.of(line, effects) !== "deny") through.push(`plan-only: ${line}`);
  }
  return through;
}

beforeAll(() => readCommandLine("true"));

describe("a program that a rule denies", () => {
  it("doesn't run under a blanket allow, however the line that starts it is written [MC-15]", { timeout: 300_000 }, async () => {
    const size = sampleSize("evasions in a real bash", { test: 200, ci: corpus.length, soak: corpus.length });
    const lines = fc.sample(fc.shuffledSubarray(corpus, { minLength: size, maxLength: size }), { numRuns: 1, seed })[0] ?? [];
    const ran = await linesThatRunEvil(lines);
    process.stdout.write(`evil ran in ${ran.length} of ${lines.length} lines\n`);
    expect(await letThrough(ran)).toEqual([]);
    expect(ran.length).toBeGreaterThan(lines.length / 2);
  });

  it("doesn't run where constructs are nested in one another either [MC-15]", { timeout: 600_000 }, async () => {
    const size = sampleSize("nested evasions in a real bash", { test: 40, ci: 400, soak: 4000 });
    const lines = [...new Set(fc.sample(nested, { numRuns: size, seed }))];
    const ran = await linesThatRunEvil(lines);
    process.stdout.write(`evil ran in ${ran.length} of ${lines.length} nested lines\n`);
    expect(await letThrough(ran)).toEqual([]);
    expect(ran.length).toBeGreaterThan(lines.length / 2);
  });

  it("doesn't run where lines are scrambled and the rules let them through [MC-15]", { timeout: 600_000 }, async () => {
    const size = sampleSize("scrambled evasions", { test: 1000, ci: 3000, soak: 100_000 });
    const allowed: string[] = [];
    // Outside of the soak the seed is fixed: a hole that chance finds is not the fault of a change.
    const lines = fc.sample(scrambled, { numRuns: size, seed: size < 100_000 ? 1 : seed });
    for (const line of new Set(lines)) if ((await guarded(line)) === "allow") allowed.push(line);
    process.stdout.write(`${allowed.length} of ${size} scrambled lines are let through\n`);
    // Only these are run: a line that is asked about may hold what it likes.
    expect(await linesThatRunEvil(allowed)).toEqual([]);
    expect(allowed.length).toBeGreaterThan(size / 100);
  });

  it("may be mentioned: what asks needlessly is told", async () => {
    const needless: string[] = [];
    for (const line of MENTIONS) if ((await guarded(line)) !== "allow") needless.push(line);
    process.stdout.write(`of ${MENTIONS.length} lines that only mention evil, ${needless.length} are asked about or denied\n`);
    expect(needless).toEqual(NEEDLESS);
  });
});

const quote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
const isSimple = (text: string): boolean => /^[\w.'"\\$/ -]+$/.test(text);

/** Ways to start what a text says. Those that need a plain command get a shell around anything else. */
const CONSTRUCTS: readonly ((text: string) => string)[] = [
  (text) => `true; ${text}`,
  (text) => `true && ${text}`,
  (text) => `false || ${text}`,
  (text) => `( ${text}\n)`,
  (text) => `{ ${text}\n}`,
  (text) => `! { ${text}\n}`,
  (text) => `time { ${text}\n}`,
  (text) => `if true; then ${text}\nfi`,
  (text) => `if { ${text}\n}; then :; fi`,
  (text) => `for i in 1; do ${text}\ndone`,
  (text) => `for ((i=0;i<1;i++)); do ${text}\ndone`,
  (text) => `while { ${text}\n}; do break; done`,
  (text) => `until false; do ${text}\nbreak; done`,
  (text) => `case x in (y) :;; *) ${text}\n;; esac`,
  (text) => `f() { ${text}\n}; f`,
  (text) => `function g { ${text}\n}\ng`,
  (text) => `coproc { ${text}\n}; wait`,
  (text) => `{ ${text}\n} | cat`,
  (text) => `true | { ${text}\n}`,
  (text) => `{ ${text}\n} > out 2>&1`,
  (text) => `{ ${text}\n} &\nwait`,
  (text) => `echo $(${text}\n)`,
  (text) => `echo "$(${text}\n)"`,
  (text) => `x=$(${text}\n)`,
  (text) => `x=(1 $(${text}\n)) true`,
  (text) => `echo \${x:-$(${text}\n)}`,
  (text) => `cat <(${text}\n)`,
  (text) => `: > "$(${text}\n)out"`,
  (text) => `cat <<E\n$(${text}\n)\nE`,
  (text) => `[[ -n $(${text}\n) ]]`,
  (text) => `echo $((a[$(${text}\n)0]))`,
  (text) => `x=${quote(`a[$(${text}\n)0]`)}; echo $((x))`,
  (text) => `[[ -v ${quote(`a[$(${text}\n)0]`)} ]]`,
  (text) => `sh -c ${quote(text)}`,
  (text) => `bash -ec ${quote(text)}`,
  (text) => `eval ${quote(text)}`,
  (text) => `x=${quote(text)}; eval "$x"`,
  (text) => `trap ${quote(text)} EXIT`,
  (text) => `timeout 3 bash -c ${quote(text)}`,
  (text) => `env A=1 bash -c ${quote(text)}`,
  (text) => `nice -n 1 nohup bash -c ${quote(text)}`,
  (text) => `find . -maxdepth 0 -exec bash -c ${quote(text)} \\;`,
  (text) => `echo x | xargs -I% bash -c ${quote(text)}`,
  (text) => `bash <<< ${quote(text)}`,
  (text) => `bash <<'X Y'\n${text}\nX Y`,
  (text) => `printf %s ${quote(text)} | bash`,
  (text) => `printf %s ${quote(text)} > s; . ./s`,
  (text) => `awk 'BEGIN { system(ARGV[1]) }' ${quote(text)}`,
  (text) => (isSimple(text) ? `A=1 ${text}` : `A=1 bash -c ${quote(text)}`),
  (text) => (isSimple(text) ? `a[0]=1 B= ${text}` : `a=(1); ${text}`),
  (text) => (isSimple(text) ? `> out ${text}` : `< /dev/null bash -c ${quote(text)}`),
  (text) => (isSimple(text) ? `command ${text}` : `command eval ${quote(text)}`),
  (text) => (isSimple(text) ? `exec -a z ${text}` : `exec bash -c ${quote(text)}`),
  (text) => `echo ok # ${quote("x").slice(1)}\n${text}`,
  (text) => `\n\t${text}`,
  (text) => `: <<'E'\n$( '\nE\n${text}`,
  (text) => `echo "a'" 'b"' \\' ; ${text}`,
];
const SPELLINGS = [
  "evil",
  "'evil'",
  'e"vi"l',
  "\\evil",
  String.raw`$'\x65vil'`,
  "ev\\\nil",
  "../bin/evil",
  "{evil,x}",
  "evil 2>&1",
  "$(echo evil)",
];
const nested: fc.Arbitrary<string> = fc
  .tuple(fc.constantFrom(...SPELLINGS), fc.array(fc.constantFrom(...CONSTRUCTS), { minLength: 1, maxLength: 3 }))
  .map(([spelling, constructs]) => constructs.reduce((text, construct) => construct(text), spelling));

/** Signs and words of bash that decide where a command begins and ends. */
const SIGNS = [
  ..." \n\t;&|()<>{}[]'\"`$\\#!=*?~,",
  ...[
    "&&",
    "||",
    "$(",
    "$((",
    "((",
    "))",
    "${x:-",
    "$'",
    '$"',
    "\\\n",
    " #",
    "<<E\n",
    "<<'E'\n",
    "<<-E\n",
    "\nE\n",
    "<<<",
    "<(",
    ">(",
    ">&",
    "&>",
  ],
  ...[
    "[[ ",
    " ]]",
    "=~ ",
    "if ",
    "then ",
    "fi",
    "for x in ",
    "do ",
    "done",
    "case x in ",
    "x) ",
    ";;",
    "esac",
    "f() ",
    "a=(",
    "a[",
    "]=",
    "{a,",
    "! ",
  ],
];
/** Lines of the corpus and nested ones, of which a few places are replaced. */
const scrambled: fc.Arbitrary<string> = fc
  .tuple(
    fc.oneof(fc.constantFrom(...corpus), nested),
    fc.array(fc.tuple(fc.nat(), fc.nat({ max: 2 }), fc.oneof(fc.constantFrom(...SIGNS), fc.constant(""))), { minLength: 1, maxLength: 4 }),
  )
  .map(([line, changes]) =>
    changes.reduce((text, [place, removed, sign]) => {
      const at = place % (text.length + 1);
      // Letters stay: without one of them, an option or a subcommand would be another.
      const kept = /[\w-]/.test(text.slice(at, at + removed)) ? at : at + removed;
      return text.slice(0, at) + sign + text.slice(kept);
    }, line),
  )
  .filter((line) => line.includes("evil"));

const MENTIONS = String.raw`
echo evil
echo "evil" > notes.txt
grep evil notes.txt
grep -rn 'evil*' src
rg evil
cat src/evil.ts
cat evil.txt
rm src/evil
git commit -m "remove evil"
git log --grep=evil
git checkout evil
find . -name 'evil*'
sed -n '/evil/p' notes.txt
sed -i 's/evil/good/g' notes.txt
awk '/evil/ { print }' notes.txt
printf %s evil
ls # evil
npm test -- evil
npm install evil
mkdir -p src/evil
touch evil
cd evil && ls
which evil
command -v evil
type evil
x=evil; echo "$x"
for x in evil good; do echo "$x"; done
[[ $x == evil ]] && echo yes
case $x in evil) echo yes;; esac
curl https://evil.example
node evil.js
python3 src/evil.py
cat <<< evil
sh -c 'echo evil'
echo 'a; evil'
`
  .trim()
  .split("\n");
/** A rule of the tool is about files and hosts too, so `bash(evil*)` names one of that name, and a script is a program to it. */
const NEEDLESS: readonly string[] = [
  "cat evil.txt",
  "git checkout evil",
  "touch evil",
  "curl https://evil.example",
  "node evil.js",
  "python3 src/evil.py",
];
