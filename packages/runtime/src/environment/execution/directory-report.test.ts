import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterAll, expect, it } from "vitest";
import { createProcessExecutor } from "./process-executor.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "keelson-directory-")));
mkdirSync(join(root, "sub", "deep"), { recursive: true });
mkdirSync(join(root, "line\nbreak"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const exec = createProcessExecutor({ cwd: root, killGraceMs: 100 });

/** The folder that a line ends in, relative to the one that it starts in. */
async function endsIn(command: string): Promise<string | undefined> {
  const { directory } = await exec.execute({ command, reportsDirectory: true });
  return directory === undefined ? undefined : relative(root, directory) || ".";
}

it.each([
  ["cd sub", "sub"],
  ["cd sub/deep && cd .. && pwd", "sub"],
  ["(cd sub)", "."],
  ["cd sub | cat", "."],
  ["cd sub; exit 3", "sub"],
  ["set -e; cd sub; false; cd deep", "sub"],
  ["trap 'echo bye' EXIT; cd sub", "sub"],
  ["exec 2>/dev/null 3>x; cd sub; echo hi >&3", "sub"],
  ["cd sub; sleep 100 &", "sub"],
  ["cat <<'A'\nit's $1\nA\ncd sub", "sub"],
  ["cd sub; pwd() { echo /etc; }; PWD=/etc; IFS=0", "sub"],
  ["cd $'line\\nbreak'", "line\nbreak"],
  ["cd nowhere", "."],
  ["cd sub; exec true", undefined],
])("reports where the shell of %j ended [TC-02]", async (command, folder) => {
  expect(await endsIn(command)).toBe(folder);
});

it.each([
  "exit 7",
  "false",
  "true; (exit 4)",
  "set -eu; echo $nothing",
  "kill -TERM $$",
  'echo $# "$*" $0',
  "if",
  "trap 'echo bye; exit 9' EXIT",
  "x() { return 5; }; x",
])("changes neither the output nor the end of %j", async (command) => {
  const ends = async (reportsDirectory: boolean) => {
    const { exitCode, signal, stdout, stderr } = await exec.execute({ command, reportsDirectory });
    return { exitCode, signal, stdout, stderr: stderr.replace(/(?:-c|eval): line/, "line") };
  };
  expect(await ends(true)).toEqual(await ends(false));
});

it("reports nothing unless it is asked to, and of a shell that is not bash", async () => {
  expect(await exec.execute({ command: "cd sub" })).not.toHaveProperty("directory");
  const posix = createProcessExecutor({ cwd: root, shell: "/bin/sh" });
  expect(await posix.execute({ command: "cd sub", reportsDirectory: true })).not.toHaveProperty("directory");
});
