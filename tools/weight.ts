// What `keelson` weighs on those who use it: its install, and what importing it costs, as a ratio to starting Node with nothing. How
// large its files may be stands in .size-limit.js, what its types cost in type-cost.ts.
import { installStaged } from "./install-staged.ts";
import { measureImport, weighInstall } from "./weigh-install.ts";

const MAX_PACKAGES = 3;
/** Half of it is code, a quarter sources, to which declarations lead. */
const MAX_BYTES = 6.5 * 2 ** 20;
/** 2.8 on two cores, of six files; a schema library or a vendor SDK in the way of the import adds 1.5 and more. */
const MAX_CPU_RATIO = 4;
const MAX_PRIVATE_MIB = 10;
const REPETITIONS = 9;

let failed = false;
function report(what: string, value: number, limit: number): void {
  const holds = value <= limit;
  failed ||= !holds;
  console.log(`${holds ? "ok  " : "FAIL"} ${what}: ${value.toFixed(value % 1 === 0 ? 0 : 2)} (at most ${limit})`);
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

await using installation = await installStaged();
const { packages, bytes } = weighInstall(installation.folder, "keelson");
report(`packages of an install (${packages.join(", ")})`, packages.length, MAX_PACKAGES);
report("MiB of an install", bytes / 2 ** 20, MAX_BYTES / 2 ** 20);
const costs = await measureImport(installation.folder, "keelson", REPETITIONS);
// The least of each: what else the machine does only adds.
const [cpuMs, emptyCpuMs] = [Math.min(...costs.map((cost) => cost.cpuMs)), Math.min(...costs.map((cost) => cost.emptyCpuMs))];
report("CPU of a start with the import, over one without", cpuMs / emptyCpuMs, MAX_CPU_RATIO);
const memory = median(costs.map(({ privateMib, emptyPrivateMib }) => privateMib - emptyPrivateMib));
report("MiB of memory of its own that the import adds", memory, MAX_PRIVATE_MIB);
if (failed) process.exitCode = 1;
