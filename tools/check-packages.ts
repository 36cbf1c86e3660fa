// Looks at the packages as they would be published: publint (manifest and files agree), attw (types resolve as the code does), no `any` in
// public types, every entry can be imported where nothing else is installed, the command starts, and size-limit.
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import ts from "typescript";
import { checkConsumer } from "./check-consumer.ts";
import { installStaged } from "./install-staged.ts";
import { type Manifest, type PackageFolder, entriesOf, publishedPackages } from "./package-entries.ts";
import { root, runCommand } from "./run-command.ts";

let failed = 0;
function report(what: string, problem: string | undefined): void {
  console.log(`${problem === undefined ? "ok  " : "FAIL"} ${what}`);
  if (problem === undefined) return;
  console.log(problem.trim());
  failed += 1;
}

async function runs(
  command: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<string | undefined> {
  const { code, output } = await runCommand(command, args, options);
  return code === 0 ? undefined : output;
}

const bin = (name: string): string => join(root, "node_modules", ".bin", name);

/** A package that is only a command has no types to resolve. */
const isImported = (published: PackageFolder): boolean => entriesOf(published).some(({ specifier }) => specifier !== undefined);

/** Places in the declarations where the compiler stops helping the user. */
function anysIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".d.ts") && !isOfTesting(file))
    .flatMap((file) => {
      const source = ts.createSourceFile(file, readFileSync(join(folder, file), "utf8"), ts.ScriptTarget.Latest, true);
      const found: string[] = [];
      const visit = (node: ts.Node): void => {
        if (node.kind === ts.SyntaxKind.AnyKeyword) {
          const line = source.getLineAndCharacterOfPosition(node.getStart(source)).line;
          found.push(`${file}:${line + 1}: ${source.text.split("\n")[line]?.trim()}`);
        }
        ts.forEachChild(node, visit);
      };
      visit(source);
      return found;
    });
}

/** What its page in a registry would show wrongly, and what would run where it is installed. */
function flawsOfPage(staged: string): readonly string[] {
  const manifest = JSON.parse(readFileSync(join(staged, "package.json"), "utf8")) as { scripts?: object; keywords?: readonly string[] };
  const { name } = JSON.parse(readFileSync(join(staged, "package.json"), "utf8")) as Manifest;
  const documents = readdirSync(staged, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".md"));
  const lost = documents.flatMap((document) =>
    [...readFileSync(join(staged, document), "utf8").matchAll(/\]\((?![a-z]+:|#)([^)#\s]+)[^)]*\)/g)]
      .filter(([, link = ""]) => !existsSync(join(staged, dirname(document), link)))
      .map(([, link]) => `${document}: ${link} is not in the package`),
  );
  const [, command = ""] = /^# \S+\n\n```\n([^\n]+)\n```\n/.exec(readFileSync(join(staged, "README.md"), "utf8")) ?? [];
  const fields = ["description", "keywords", "license", "engines", "files"].filter((field) => !(field in manifest));
  return [
    ...lost,
    ...(command.startsWith("npm install ") && command.split(" ").includes(name)
      ? []
      : ["README.md does not begin with the line that installs the package"]),
    ...(name !== "keelson" || documents.includes("docs/guides/hooks.md") ? [] : ["docs/ is missing"]),
    ...(name !== "@keelson/code" || documents.includes("docs/coding-agent.md") ? [] : ["docs/coding-agent.md is missing"]),
    ...fields.map((field) => `package.json has no ${field}`),
    ...(manifest.keywords?.length ? [] : ["package.json has no keywords"]),
    ...(manifest.scripts === undefined ? [] : [`package.json has scripts: ${Object.keys(manifest.scripts).join(", ")}`]),
  ];
}

/** Declarations of their own without a map, and maps that lead to no source. What only passes on those of others has none. */
const testSources = new Set(
  readdirSync(join(root, "packages/runtime/src/testing"), { recursive: true, encoding: "utf8" }).map((path) => basename(path, ".ts")),
);

/** True for declarations of `testing`, whose sources are not staged. A chunk is named after the module that it begins with. */
function isOfTesting(file: string): boolean {
  return file.startsWith("testing/") || testSources.has(basename(file).replace(/-[\w-]{8}\.d\.ts$/, ""));
}

function brokenMaps(staged: string): readonly string[] {
  const dist = join(staged, "dist");
  return readdirSync(dist, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".d.ts") && !isOfTesting(file))
    .flatMap((file) => {
      const map = join(dist, `${file}.map`);
      if (!existsSync(map))
        return /^(?:declare|interface|type)\b/m.test(readFileSync(join(dist, file), "utf8")) ? [`${file} has no map`] : [];
      const { sources } = JSON.parse(readFileSync(map, "utf8")) as { readonly sources: readonly string[] };
      return sources.filter((source) => !existsSync(join(dirname(map), source))).map((source) => `${file}.map leads to ${source}`);
    });
}

const packages = publishedPackages();
for (const published of packages) {
  const name = basename(published.folder);
  const staged = join(root, "dist", name);
  if (!existsSync(join(staged, "package.json"))) throw new Error(`dist/${name} does not exist: run \`npm run build\` first`);
  report(`publint ${name}`, await runs(bin("publint"), ["run", staged, "--strict"]));
  const flaws = flawsOfPage(staged);
  report(`page of ${name}`, flaws.length === 0 ? undefined : flaws.join("\n"));
  if (!isImported(published)) continue;
  const broken = brokenMaps(staged);
  report(`declaration maps of ${name}`, broken.length === 0 ? undefined : broken.join("\n"));
  report(`attw ${name}`, await runs(bin("attw"), ["--pack", staged, "--profile", "esm-only", "--format", "ascii"]));
  const anys = anysIn(join(staged, "dist"));
  report(`no any in the types of ${name}`, anys.length === 0 ? undefined : anys.join("\n"));
}

for (const { program, problem } of await checkConsumer()) report(`declarations of ${program}, in an isolated installation`, problem);

await using installation = await installStaged(["zod"]);
const [, first = ""] = /```ts\n(.*?)```/s.exec(readFileSync(join(root, "README.md"), "utf8")) ?? [];
writeFileSync(join(installation.folder, "first.ts"), first);
report(
  "the first program of the README runs as it is",
  await runs(process.execPath, ["first.ts"], {
    cwd: installation.folder,
    env: { ...process.env, ANTHROPIC_API_KEY: "", OPENAI_API_KEY: "" },
  }),
);
// The contract suites alone need an optional peer, which is not installed here: test/exports.test.ts imports them.
const needsPeer = (specifier: string): boolean => specifier.endsWith("/contracts");
const specifiers = packages
  .flatMap(entriesOf)
  .flatMap(({ specifier }) => (specifier === undefined || needsPeer(specifier) ? [] : specifier));
const program = specifiers.map((specifier) => `await import(${JSON.stringify(specifier)});`).join("\n");
report(
  `${specifiers.length} entries can be imported`,
  await runs(process.execPath, ["--input-type=module", "--eval", program], { cwd: installation.folder }),
);
// What is loaded on first use from files beside the code: importing an entry doesn't show that they are there.
const onFirstUse = `const { readCommandLine } = await import("keelson/environment");
const { commands, unknown } = await readCommandLine("npm 'test' | tail -5");
if (commands?.[0]?.text !== "npm test" || unknown !== undefined) throw new Error(JSON.stringify({ commands, unknown }));`;
report(
  "the parser of command lines loads",
  await runs(process.execPath, ["--input-type=module", "--eval", onFirstUse], { cwd: installation.folder }),
);
for (const { manifest } of packages) {
  for (const [command, target] of Object.entries(manifest.bin ?? {})) {
    report(
      `${command} --help`,
      await runs(process.execPath, [join(installation.folder, "node_modules", manifest.name, target), "--help"], {
        cwd: installation.folder,
      }),
    );
  }
}

const sizes = await runCommand(bin("size-limit"), []);
report("size-limit", sizes.code === 0 ? undefined : sizes.output);
if (sizes.code === 0) console.log(sizes.output.trim());

if (failed > 0) {
  console.log(`${failed} checks of the packages failed`);
  process.exitCode = 1;
}
