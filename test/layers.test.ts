import { spawn } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Each breaks one rule. The file is added to a copy of the sources; its text is all it holds. */
const violations: readonly { readonly rule: string; readonly file: string; readonly text: string }[] = [
  {
    rule: "transport-imports-downward-only",
    file: "packages/runtime/src/transport/planted.ts",
    text: `import "../agent/runner/planted-target.ts";`,
  },
  { rule: "json-imports-downward-only", file: "packages/runtime/src/json/planted.ts", text: `import "../schema/planted-target.ts";` },
  { rule: "platform-imports-downward-only", file: "packages/runtime/src/platform/planted.ts", text: `import "../json/planted-target.ts";` },
  {
    rule: "state/kit-imports-downward-only",
    file: "packages/runtime/src/state/kit/planted-type.ts",
    text: `import type { Planted } from "../../agent/runner/planted-target.ts";`,
  },
  {
    rule: "state/kit-imports-downward-only",
    file: "packages/runtime/src/state/kit/planted-up.ts",
    text: `import type { Planted } from "../memory/planted-target.ts";`,
  },
  {
    rule: "state/sqlite-imports-downward-only",
    file: "packages/runtime/src/state/sqlite/planted.ts",
    text: `import type { Planted } from "../memory/planted-target.ts";`,
  },
  {
    rule: "tools-imports-downward-only",
    file: "packages/runtime/src/tools/planted.ts",
    text: `import type { Planted } from "../state/kit/planted-target.ts";`,
  },
  // Each border inside of the agent, and one between siblings of a row.
  {
    rule: "agent/definition-imports-downward-only",
    file: "packages/runtime/src/agent/definition/planted.ts",
    text: `import type { Planted } from "../turn/planted-target.ts";`,
  },
  {
    rule: "agent/turn-imports-downward-only",
    file: "packages/runtime/src/agent/turn/planted.ts",
    text: `import type { Planted } from "../features/hooks/planted-target.ts";`,
  },
  {
    rule: "agent/features/strategies-imports-downward-only",
    file: "packages/runtime/src/agent/features/strategies/planted.ts",
    text: `import type { Planted } from "../hooks/planted-target.ts";`,
  },
  {
    rule: "agent/features/hooks-imports-downward-only",
    file: "packages/runtime/src/agent/features/hooks/planted.ts",
    text: `import type { Planted } from "../effects/planted-target.ts";`,
  },
  {
    rule: "agent/features/effects-imports-downward-only",
    file: "packages/runtime/src/agent/features/effects/planted.ts",
    text: `import type { Planted } from "../children/planted-target.ts";`,
  },
  {
    rule: "agent/features/children-imports-downward-only",
    file: "packages/runtime/src/agent/features/children/planted.ts",
    text: `import type { Planted } from "../../loop/planted-target.ts";`,
  },
  {
    rule: "agent/loop-imports-downward-only",
    file: "packages/runtime/src/agent/loop/planted.ts",
    text: `import type { Planted } from "../runner/planted-target.ts";`,
  },
  {
    rule: "agent/runner-imports-downward-only",
    file: "packages/runtime/src/agent/runner/planted.ts",
    text: `export * from "../index.ts";`,
  },
  { rule: "every-folder-has-a-row", file: "packages/runtime/src/agent/planted.ts", text: `import "../json/planted-target.ts";` },
  {
    rule: "no-cycle",
    file: "packages/runtime/src/context/planted-back.ts",
    text: `import type { There } from "./planted-there.ts"; export type Back = There;`,
  },
  {
    rule: "state/kit-imports-downward-only",
    file: "packages/runtime/src/state/kit/planted.ts",
    text: `await import("../../environment/planted-target.ts");`,
  },
  { rule: "package-protocol-imports-downward-only", file: "packages/protocol/src/planted.ts", text: `import "keelson";` },
  {
    rule: "package-runtime-imports-downward-only",
    file: "packages/runtime/src/session/planted.ts",
    text: `import "../../../code/src/planted-target.ts";`,
  },
  { rule: "protocol-depends-on-nothing", file: "packages/protocol/src/planted-builtin.ts", text: `import "node:fs";` },
  { rule: "protocol-depends-on-nothing", file: "packages/protocol/src/planted-library.ts", text: `import "ajv";` },
  { rule: "libraries-load-on-first-use", file: "packages/runtime/src/schema/planted.ts", text: `import { Ajv } from "ajv"; Ajv;` },
  { rule: "testing-imports-only-its-libraries", file: "packages/runtime/src/testing/planted.ts", text: `import "ajv";` },
  { rule: "every-folder-has-a-row", file: "packages/runtime/src/planted/file.ts", text: `import "../json/planted-target.ts";` },
  { rule: "no-cycle", file: "packages/runtime/src/context/planted.ts", text: `import "./planted.ts";` },
  { rule: "no-unresolved", file: "packages/runtime/src/context/planted-missing.ts", text: `import "./there-is-no-such-file.ts";` },
  { rule: "index-leaves-testing-out", file: "packages/runtime/src/index.ts", text: `import "./testing/planted-target.ts";` },
];
const targets = [
  "agent/definition",
  "agent/turn",
  "agent/features/hooks",
  "agent/features/effects",
  "agent/features/children",
  "agent/loop",
  "agent/runner",
  "schema",
  "state/kit",
  "state/memory",
  "environment",
  "json",
  "testing",
].map((layer) => `packages/runtime/src/${layer}/planted-target.ts`);
const allowed = [
  { file: "packages/runtime/src/schema/planted-lazily.ts", text: `export const load = () => import("ajv");` },
  {
    file: "packages/runtime/src/agent/runner/planted-downward.ts",
    text: `import "../../json/planted-target.ts"; import "@keelson/protocol";`,
  },
  { file: "packages/runtime/src/json/planted.test.ts", text: `import "../agent/runner/planted-target.ts"; import "vitest";` },
];

interface Violation {
  readonly rule: { readonly name: string };
  readonly from: string;
}

let copy: string;
let found: readonly Violation[];

beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), "keelson-layers-"));
  for (const file of ["layers.json", ".dependency-cruiser.cjs", "tsconfig.base.json", "package.json"])
    await cp(join(root, file), join(copy, file));
  for (const name of await readdir(join(root, "packages"))) {
    for (const part of ["src", "package.json"])
      await cp(join(root, "packages", name, part), join(copy, "packages", name, part), { recursive: true });
  }
  await mkdir(join(copy, "node_modules", "@keelson"), { recursive: true });
  await symlink("../packages/runtime", join(copy, "node_modules", "keelson"));
  await symlink("../../packages/protocol", join(copy, "node_modules", "@keelson", "protocol"));
  await symlink(join(root, "node_modules", "ajv"), join(copy, "node_modules", "ajv"));

  const plant = async (file: string, text: string): Promise<void> => {
    await mkdir(dirname(join(copy, file)), { recursive: true });
    await writeFile(join(copy, file), text);
  };
  for (const file of [...targets, "packages/code/src/planted-target.ts"])
    await plant(file, "export interface Planted {}\nexport const planted = 1;\n");
  await plant(
    "packages/runtime/src/context/planted-there.ts",
    `import type { Back } from "./planted-back.ts"; export type There = readonly Back[];`,
  );
  for (const { file, text } of [...violations, ...allowed]) await plant(file, `${text}\n`);
  found = await violationsIn(copy);
}, 60_000);

afterAll(() => rm(copy, { recursive: true, force: true }));

async function violationsIn(folder: string): Promise<readonly Violation[]> {
  const cruiser = join(root, "node_modules", ".bin", "depcruise");
  const child = spawn(process.execPath, [cruiser, "--config", ".dependency-cruiser.cjs", "--output-type", "json", "packages"], {
    cwd: folder,
  });
  const [output, errors] = await Promise.all([child.stdout.toArray(), child.stderr.toArray()]);
  const text = Buffer.concat(output).toString("utf8");
  if (text === "") throw new Error(`dependency-cruiser printed no result: ${Buffer.concat(errors).toString("utf8")}`);
  return (JSON.parse(text) as { summary: { violations: readonly Violation[] } }).summary.violations;
}

describe("the layers", () => {
  it.each(violations)("are held by $rule, which refuses $file", ({ rule, file }) => {
    expect(found.filter((violation) => violation.from === file).map((violation) => violation.rule.name)).toContain(rule);
  });

  it("refuse nothing else: imports downward, lazy libraries and tests pass", () => {
    const planted = new Set(violations.map(({ file }) => file));
    expect(found.filter((violation) => !planted.has(violation.from) && allowed.some(({ file }) => file === violation.from))).toEqual([]);
  });

  it("have a row for each folder of the runtime, and an entry for each package", async () => {
    const { rows, packages } = JSON.parse(await readFile(join(root, "layers.json"), "utf8")) as {
      rows: readonly string[][];
      packages: object;
    };
    const foldersOf = async (folder: string): Promise<readonly string[]> =>
      (await readdir(join(root, "packages/runtime/src", folder), { withFileTypes: true })).flatMap((entry) =>
        entry.isDirectory() ? [join(folder, entry.name)] : [],
      );
    const split = new Set(["agent", "agent/features", "state"]);
    const folders = (await Promise.all(["", ...split].map(foldersOf))).flat().filter((folder) => !split.has(folder));
    expect(rows.flat()).toEqual(expect.arrayContaining(folders));
    expect(Object.keys(packages)).toEqual(expect.arrayContaining(await readdir(join(root, "packages"))));
  });
});
