// Reads some hundred compound command lines, one after another with pauses, and prints the peak of its memory in MiB.
import { setTimeout as pause } from "node:timers/promises";
import { readCommandLine } from "keelson/environment";

for (let round = 0; round < 300; round++) {
  const line = `cd src && for f in *.ts; do grep -n "x${round}" "$f" | head -${round}; done; echo "$(git status)" || exit 1`;
  const { unknown } = await readCommandLine(line, { cwd: "/project" });
  if (unknown !== undefined) throw new Error(`not understood: ${unknown.join(" ")}`);
  // A compiler in the background would work in the meantime.
  if (round % 10 === 0) await pause(10);
}
process.stdout.write(`${Math.round(process.resourceUsage().maxRSS / 1024)}\n`);
