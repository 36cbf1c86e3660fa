import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "./run-command.ts";

export interface InstallWeight {
  /** Names of the packages that an install of the first brings, itself included. */
  readonly packages: readonly string[];
  readonly bytes: number;
}

/** What an install of one package brings with its dependencies, peers left out. */
export function weighInstall(folder: string, name: string): InstallWeight {
  const packages = new Set<string>();
  const visit = (one: string): void => {
    if (packages.has(one)) return;
    packages.add(one);
    const { dependencies = {} } = JSON.parse(readFileSync(join(folder, "node_modules", one, "package.json"), "utf8")) as {
      dependencies?: Record<string, string>;
    };
    for (const dependency of Object.keys(dependencies)) visit(dependency);
  };
  visit(name);
  return { packages: [...packages], bytes: [...packages].reduce((sum, one) => sum + bytesOf(join(folder, "node_modules", one)), 0) };
}

function bytesOf(path: string): number {
  return readdirSync(path, { recursive: true, encoding: "utf8" }).reduce((sum, file) => {
    const info = lstatSync(join(path, file));
    return sum + (info.isFile() ? info.size : 0);
  }, 0);
}

export interface ImportCost {
  readonly emptyCpuMs: number;
  readonly cpuMs: number;
  /** Memory of the process alone: how many pages of Node's own program are mapped beside it depends on as little as the name of the folder. */
  readonly emptyPrivateMib: number;
  readonly privateMib: number;
}

const REPORT = `
  const { user, system } = process.cpuUsage();
  const status = process.getBuiltinModule("node:fs").readFileSync("/proc/self/status", "utf8");
  console.log(JSON.stringify({ cpuMs: (user + system) / 1000, privateMib: Number(/RssAnon:\\s+(\\d+) kB/.exec(status)[1]) / 1024 }));`;

/** Starts Node without and with the import, in turn. */
export async function measureImport(folder: string, specifier: string, repetitions: number): Promise<readonly ImportCost[]> {
  const start = async (program: string): Promise<{ readonly cpuMs: number; readonly privateMib: number }> => {
    const { code, output } = await runCommand(process.execPath, ["--input-type=module", "--eval", `${program}${REPORT}`], { cwd: folder });
    if (code !== 0) throw new Error(`Node ended with ${code}:\n${output}`);
    return JSON.parse(output) as { readonly cpuMs: number; readonly privateMib: number };
  };
  const costs: ImportCost[] = [];
  for (let count = 0; count <= repetitions; count++) {
    const empty = await start("");
    const full = await start(`await import(${JSON.stringify(specifier)});`);
    // The first reads the files from disk.
    if (count > 0)
      costs.push({ emptyCpuMs: empty.cpuMs, cpuMs: full.cpuMs, emptyPrivateMib: empty.privateMib, privateMib: full.privateMib });
  }
  return costs;
}
