// Runs the main job (`npm start`) and every examples/<story>/main.ts. Each checks itself: it ends with code 0 or has failed.
// A folder of examples with a package.json of its own is a project that one of them works on.
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root, runCommand } from "./run-command.ts";

const stories = readdirSync(join(root, "examples"), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !existsSync(join(root, "examples", entry.name, "package.json")))
  .map((entry) => entry.name)
  .sort();

interface Outcome {
  readonly title: string;
  readonly code: number;
}

const outcomes: Outcome[] = [];
/** Examples that would use a model where there is a key are run with their scripts: what they do is then known. */
const WITHOUT_KEYS = { ANTHROPIC_API_KEY: "", OPENAI_API_KEY: "" };

async function run(title: string, command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<void> {
  const { code, output, seconds } = await runCommand(command, args, { env: { ...process.env, ...env, NO_COLOR: "1" } });
  console.log(`${code === 0 ? "ok  " : "FAIL"} ${title} (${seconds.toFixed(1)} s)`);
  if (code !== 0) console.log(output.trimEnd());
  outcomes.push({ title, code });
}

await run("npm start", "npm", ["start", "--silent"]);
for (const story of stories) {
  const main = join("examples", story, "main.ts");
  if (existsSync(join(root, main))) await run(main, process.execPath, ["--conditions=source", main], WITHOUT_KEYS);
  else {
    console.log(`FAIL examples/${story} has no main.ts, so nothing runs it`);
    outcomes.push({ title: main, code: 1 });
  }
}
mkdirSync(join(root, "results"), { recursive: true });
writeFileSync(join(root, "results", "examples.json"), JSON.stringify(outcomes));
if (outcomes.some(({ code }) => code !== 0)) process.exitCode = 1;
