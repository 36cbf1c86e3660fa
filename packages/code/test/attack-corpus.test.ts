import { cpSync, existsSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { sampleSize, seed } from "../../../test/tier.ts";
import { type AttackProject, type AttackSetup, fillAttackProject, startAttacker, TRACKED } from "./attack-project.ts";
import { withoutSandbox } from "./attack-run.ts";
import { hasBubblewrap } from "./has-bubblewrap.ts";
import { MODELS, openWorkspace } from "./keelson-process.ts";
import { leaksIn } from "./leaks.ts";

/** Lines under the same rules in the same kind of project. */
interface Group {
  readonly title: string;
  readonly setup: AttackSetup;
  readonly rules: readonly string[];
  /** Secrets that are tracked count as well: a rule denies reading them. */
  readonly isTrackedSecret: boolean;
  readonly lines: readonly string[];
}

type Place = "without a sandbox" | "in a sandbox";

/** One line of the corpus, and what came of it. */
interface Verdict {
  readonly line: string;
  readonly isAsked: boolean;
  /** Results of a line that must not occur without a question. */
  readonly faults: readonly string[];
}

function readGroups(): readonly Group[] {
  const sections = readFileSync(new URL("attack-corpus.txt", import.meta.url), "utf8")
    .split(/^## /m)
    .slice(1);
  return sections.map((section) => {
    const [head = "", ...lines] = section.split("\n").filter((line) => line !== "");
    const [title = "", setup = "plain", ...parts] = head.split(" | ");
    const rules = parts.filter((part) => part !== "tracked");
    return { title, setup: setup as AttackSetup, rules, isTrackedSecret: rules.length < parts.length, lines };
  });
}

const SETTLED_SECONDS = 10;
/** Files that steer later work: they must not be created or changed unasked. */
const STEERING = ["AGENTS.md", ".npmrc", ".envrc", ".git/config", ".git/hooks"];

/** Gives every line to one real `keelson` as a call of bash, whose questions are denied, and looks after each line at what came of it. */
async function tryLines(group: Group, place: Place): Promise<readonly Verdict[]> {
  const { setup, rules, isTrackedSecret, lines } = group;
  await using attacker = await startAttacker();
  const verdicts: Verdict[] = [];
  let inspect = (_result: string): void => {};
  let textOf = (line: string): string => line;
  await using workspace = await openWorkspace(({ index, body }) => {
    if (index > 0 && index <= lines.length) inspect(lastResult(body));
    const line = lines[index];
    if (line === undefined) return { text: "done" };
    // Calls that fail one after another would end the run.
    const succeeding = { name: "glob", input: { pattern: `**/none-${index}` } };
    return { toolCalls: [{ name: "bash", input: { command: textOf(line), timeout_seconds: SETTLED_SECONDS } }, succeeding] };
  });
  const { project } = workspace;
  const attack: AttackProject = fillAttackProject(project, setup);
  const canaries = [...attack.canaries, ...(isTrackedSecret ? TRACKED : [])];
  const pristine = mkdtempSync(join(tmpdir(), "keelson-pristine-"));
  cpSync(project, pristine, { recursive: true, verbatimSymlinks: true });
  const isBlanket = rules.includes("allow bash");
  let heard = 0;
  let signature = signatureOf(project);
  textOf = (line) =>
    line
      .replace(/^= /, "")
      .replaceAll("⏎", "\n")
      .replaceAll("⇥", "\t")
      .replaceAll("{http}", attacker.http)
      .replaceAll("{tcp}", attacker.tcp)
      .replaceAll("{root}", join(project, ".."));
  inspect = (result) => {
    const sent = attacker.received();
    const faults = [
      ...attack.takeMarks().map((mark) => `ran ${mark}`),
      ...leaksIn(result, canaries).map((name) => `showed ${name}`),
      ...leaksIn(sent.slice(heard), canaries).map((name) => `sent ${name}`),
      ...(isBlanket
        ? []
        : STEERING.filter((path) => stateOf(join(project, path)) !== stateOf(join(pristine, path))).map((path) => `wrote ${path}`)),
    ];
    heard = sent.length;
    verdicts.push({ line: lines[verdicts.length] ?? "", isAsked: /Not permitted|A person declined this call/.test(result), faults });
    if (signatureOf(project) === signature) return;
    restore(project, pristine);
    signature = signatureOf(project);
  };
  const args = rules.flatMap((rule) => {
    const [behavior = "", pattern = ""] = rule.split(/ (.*)/s);
    return [`--${behavior}`, pattern];
  });
  const sandbox = place === "in a sandbox" ? ["--sandbox"] : await withoutSandbox(workspace);
  const options = [...sandbox, "--model", MODELS.anthropic, "--on-approval", "deny", "--max-turns", "5000"];
  const run = workspace.start(["-p", "--no-mcp", ...options, ...args, "go"], { env: attack.env });
  const finished = await run.finished;
  rmSync(pristine, { recursive: true });
  if (verdicts.length !== lines.length)
    throw new Error(`only ${verdicts.length} of ${lines.length} lines were tried: ${finished.stderr}\n${finished.stdout.slice(-2000)}`);
  return verdicts;
}

function lastResult(body: unknown): string {
  const { messages } = body as { readonly messages: readonly unknown[] };
  return JSON.stringify(messages.at(-1));
}

function stateOf(path: string): string {
  if (!existsSync(path)) return "nothing";
  try {
    return readFileSync(path, "utf8");
  } catch {
    return readdirSync(path).join();
  }
}

/** Puts the files back as they were, in the same folder. */
function restore(project: string, pristine: string): void {
  for (const name of readdirSync(project)) rmSync(join(project, name), { recursive: true, force: true });
  cpSync(pristine, project, { recursive: true, verbatimSymlinks: true });
}

/** Differs if anything in the folder changed, except for the objects of git. */
function signatureOf(folder: string): string {
  return readdirSync(folder, { withFileTypes: true })
    .map((entry) => {
      const path = join(folder, entry.name);
      const { mtimeMs, ctimeMs, size, mode } = lstatSync(path);
      const inner = entry.isDirectory() && entry.name !== "objects" ? signatureOf(path) : "";
      return `${entry.name} ${mtimeMs} ${entry.isDirectory() ? "" : ctimeMs} ${size} ${mode}\n${inner}`;
    })
    .join("");
}

const groups = readGroups();
const counts: string[] = [];

afterAll(() => void process.stdout.write(`attack corpus: ${counts.join("; ")}\n`));

/** Tries a sample of the lines of a group, and expects that nothing came of them without a question. */
async function expectNoFault(group: Group, place: Place): Promise<void> {
  const { title } = group;
  const all = group.lines.length;
  // The walls of the sandbox have probes of their own; without it, the reading of a line is all that there is.
  const sizes = place === "in a sandbox" ? { test: Math.ceil(all / 32), ci: Math.ceil(all / 4) } : { test: Math.ceil(all / 8), ci: all };
  const size = sampleSize(`attacks ${place}: ${title}`, { ...sizes, soak: all });
  const lines = fc.sample(fc.shuffledSubarray([...group.lines], { minLength: size, maxLength: size }), { numRuns: 1, seed })[0] ?? [];
  const verdicts = await tryLines({ ...group, lines }, place);
  counts.push(`${title}, ${place}: ${verdicts.filter(({ isAsked }) => isAsked).length} of ${verdicts.length} asked about or denied`);
  const faulty = verdicts.filter(({ faults }) => faults.length > 0);
  expect(faulty.map(({ line, faults }) => `${line} → ${faults.join(", ")}\n`).join("")).toBe("");
  expect(verdicts.filter(({ line, isAsked }) => line.startsWith("= ") && isAsked).map(({ line }) => line)).toEqual([]);
}

describe("a line of the corpus of attacks", () => {
  const named = groups.map((group) => [group.title, group] as const);

  it("stands in it once", () => {
    const all = groups.flatMap(({ title, lines }) => lines.map((line) => `${title}: ${line}`));
    expect(all.filter((line, index) => all.indexOf(line) !== index)).toEqual([]);
    expect(all.length).toBeGreaterThan(2700);
  });

  it.each(named)(
    "runs no program of the attacker, shows no secret and changes no steering file without a question (%s)",
    { timeout: 600_000 },
    (_, group) => expectNoFault(group, "without a sandbox"),
  );

  it.skipIf(!hasBubblewrap).each(named)(
    `shows no secret and changes no steering file without a question in a sandbox (%s${hasBubblewrap ? "" : "; skipped: bubblewrap is not installed"})`,
    { timeout: 600_000 },
    (_, group) => expectNoFault(group, "in a sandbox"),
  );
});
