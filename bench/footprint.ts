// What Keelson weighs: its start, its packages, and what it costs a type check.
import { installStaged } from "../tools/install-staged.ts";
import { runCommand } from "../tools/run-command.ts";
import { measureImport, weighInstall } from "../tools/weigh-install.ts";
import type { Row } from "./report.ts";
import { rangeOf } from "./statistics.ts";

export const FOOTPRINT_PARTS: readonly string[] = ["import", "install", "types"];

/** @param parts those of `FOOTPRINT_PARTS` that are wanted, and others */
export async function footprint(parts: readonly string[], repetitions: number): Promise<readonly Row[]> {
  const rows: Row[] = [];
  if (parts.includes("import") || parts.includes("install")) {
    await using installation = await installStaged();
    if (parts.includes("import")) {
      const costs = await measureImport(installation.folder, "keelson", Math.max(repetitions, 9));
      rows.push({
        what: "import over an empty Node",
        subject: "keelson",
        unit: "ms CPU",
        value: rangeOf(costs.map(({ cpuMs, emptyCpuMs }) => cpuMs - emptyCpuMs)),
        target: 40,
      });
      rows.push({
        what: "import over an empty Node",
        subject: "keelson",
        unit: "MiB",
        value: rangeOf(costs.map(({ privateMib, emptyPrivateMib }) => privateMib - emptyPrivateMib)),
        target: 10,
      });
    }
    if (parts.includes("install")) {
      const { packages, bytes } = weighInstall(installation.folder, "keelson");
      rows.push({ what: "install", subject: "keelson", unit: "MiB", value: rangeOf([bytes / 2 ** 20]), target: 4 });
      rows.push({ what: "install", subject: "keelson", unit: "packages", value: rangeOf([packages.length]), target: 3 });
    }
  }
  if (parts.includes("types")) {
    const { output } = await runCommand("npm", ["run", "--silent", "type-cost"]);
    const count = /: (\d+) instantiations/.exec(output)?.[1];
    if (count === undefined) throw new Error(`the type check could not be measured:\n${output}`);
    rows.push({
      what: "type check of one agent with one tool",
      subject: "keelson",
      unit: "instantiations",
      value: rangeOf([Number(count)]),
      target: 2500,
    });
  }
  return rows;
}
