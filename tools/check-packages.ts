// Looks at the packages as they would be published: publint (manifest and files agree), attw (types resolve as the code does) and size-limit.
import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { entriesOf, publishedPackages } from "./package-entries.ts";
import { root, runCommand } from "./run-command.ts";

const bin = (name: string): string => join(root, "node_modules", ".bin", name);
let failed = 0;
async function check(what: string, command: string, args: readonly string[]): Promise<void> {
  const { code, output } = await runCommand(command, args);
  console.log(`${code === 0 ? "ok  " : "FAIL"} ${what}`);
  if (code !== 0 || what === "size-limit") console.log(output.trim());
  if (code !== 0) failed += 1;
}

for (const published of publishedPackages()) {
  const name = basename(published.folder);
  const staged = join("dist", name);
  if (!existsSync(join(root, staged, "package.json"))) throw new Error(`${staged} does not exist: run \`npm run build\` first`);
  await check(`publint ${name}`, bin("publint"), ["run", staged, "--strict"]);
  // A package that is only a command has no types to resolve.
  if (entriesOf(published).some((entry) => entry.specifier !== undefined)) {
    await check(`attw ${name}`, bin("attw"), ["--pack", staged, "--profile", "esm-only", "--format", "ascii"]);
  }
}
await check("size-limit", bin("size-limit"), []);
if (failed > 0) {
  console.log(`${failed} checks of the packages failed`);
  process.exitCode = 1;
}
