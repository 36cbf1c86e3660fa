import { execFile } from "node:child_process";
import { chmod, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { inspect, promisify } from "node:util";
import { AgentError } from "@keelson/protocol";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadApprovalKeys } from "./load-approval-keys.ts";

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "keelson-keys-"));
});
afterEach(async () => {
  await rm(home, { recursive: true, force: true });
});

const failureOf = async (promise: Promise<unknown>): Promise<AgentError> => {
  const error: unknown = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!AgentError.is(error)) throw new Error("expected an AgentError", { cause: error });
  return error;
};

describe("approval keys in a directory", () => {
  it("are made once, for their owner alone, and read ever after", async () => {
    const directory = join(home, "new", "home");
    const made = await loadApprovalKeys(directory);
    expect(await loadApprovalKeys(directory)).toEqual(made);
    expect(made.current.secret).toHaveLength(32);
    expect((await stat(join(directory, "approval-keys.json"))).mode & 0o777).toBe(0o600);
    expect(await readdir(directory)).toEqual(["approval-keys.json"]);
  });

  it("are the same for many that come first at once", async () => {
    const all = await Promise.all(Array.from({ length: 20 }, () => loadApprovalKeys(home)));
    expect(new Set(all.map(({ current }) => current.id)).size).toBe(1);
    expect(await readdir(home)).toEqual(["approval-keys.json"]);
  });

  it("are the same for several processes that come first at once", async () => {
    const module = fileURLToPath(new URL("./load-approval-keys.ts", import.meta.url));
    const program = `import { loadApprovalKeys } from ${JSON.stringify(module)}; console.log((await loadApprovalKeys(process.argv[1])).current.id);`;
    const run = promisify(execFile);
    const ids = await Promise.all(
      [1, 2, 3].map(async () =>
        (await run(process.execPath, ["--conditions=source", "--input-type=module", "--eval", program, home])).stdout.trim(),
      ),
    );
    expect(new Set(ids).size).toBe(1);
    expect(ids[0]).toMatch(/^[0-9a-f]{12}$/);
  }, 30_000);

  it("are refused when others may read them, with the command that mends it", async () => {
    await loadApprovalKeys(home);
    const path = join(home, "approval-keys.json");
    for (const mode of [0o644, 0o640, 0o620]) {
      await chmod(path, mode);
      const error = await failureOf(loadApprovalKeys(home));
      expect(error.failure).toMatchObject({ kind: "invalid-option", option: "approvalKeys" });
      expect(error.message).toContain(`chmod 600 ${path}`);
    }
    await chmod(path, 0o600);
    await loadApprovalKeys(home);
  });

  it("are refused when the file is damaged, cut short or of a later format, and left as they are", async () => {
    const path = join(home, "approval-keys.json");
    for (const [content, problem] of [
      ["", "no JSON"],
      ['{"v":1,"current":{"id":"a","sec', "no JSON"],
      ["null", "format version"],
      ['{"v":2}', "format version 2"],
      ['{"v":1,"current":{"id":"a"}}', "without an id or a secret"],
      ['{"v":1,"current":{"id":"a","secret":"AAAA"}}', "3 bytes"],
      ['{"v":1,"current":{"id":"a","secret":"AAAA"},"previous":1}', "no list of previous keys"],
    ] as const) {
      await writeFile(path, content, { mode: 0o600 });
      const error = await failureOf(loadApprovalKeys(home));
      expect(error.failure.kind).toBe("backend");
      expect(error.message).toContain(problem);
      expect(error.message).toContain("Delete the file");
    }
  });

  it("tell nothing of what stands in a damaged file, not even as the cause", async () => {
    await writeFile(join(home, "approval-keys.json"), '{"v":1,"current":{"id":"a","secret":c2VjcmV0LWNhbmFyeQ', { mode: 0o600 });
    const error = await failureOf(loadApprovalKeys(home));
    expect(error.message).toContain("are no JSON");
    expect(inspect(error) + JSON.stringify(error)).not.toContain("c2Vj");
  });

  it("say what stands in the way when the directory can't be made", async () => {
    const file = join(home, "file");
    await writeFile(file, "");
    const error = await failureOf(loadApprovalKeys(join(file, "inside")));
    expect(error.failure.kind).toBe("backend");
    expect(error.message).toContain("ENOTDIR");
  });
});
