import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it, onTestFinished } from "vitest";
import { requireWritable } from "./require-writable.ts";

it.skipIf(process.platform !== "linux")("asks about what stands there, not about what a link that was put there leads to", async () => {
  const folder = mkdtempSync(join(tmpdir(), "keelson-writable-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "file"), "");
  await requireWritable(join(folder, "file"), "file");
  // Whoever followed it would be told of a loop.
  symlinkSync("loop", join(folder, "loop"));
  await requireWritable(join(folder, "loop"), "loop");
});
