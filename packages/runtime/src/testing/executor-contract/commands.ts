import { describe, expect, it } from "vitest";
import { createMemoryBlobStore } from "../../state/memory/memory-blob-store.ts";
import { failureOf, type ExecutorContractOptions } from "./executor-subject.ts";

export function describeCommands({ create, terminals }: ExecutorContractOptions): void {
  describe("a command", () => {
    it("gives its exit code, stdout and stderr, with their sizes [VT-10]", async () => {
      const executor = await create();
      const response = await executor.execute({ command: "printf 'héllo'; printf oops >&2; exit 3" });
      expect(response).toMatchObject({ exitCode: 3, stdout: "héllo", stderr: "oops", stdoutBytes: 6, stderrBytes: 4, timedOut: false });
    });

    it("is a program with its arguments, without a shell in between, when it is given as one", async () => {
      const executor = await create();
      const response = await executor.execute({ program: "printf", args: ["%s|", "$HOME", "a b;exit 1"] });
      expect(response.stdout).toBe("$HOME|a b;exit 1|");
    });

    it("has the variables and the input of its request", async () => {
      const executor = await create();
      const response = await executor.execute({ command: 'cat; printf "%s" "$GREETING"', stdin: "grüße ", env: { GREETING: "hi" } });
      expect(response.stdout).toBe("grüße hi");
    });

    it("reads input that comes in pieces, while it already writes", async () => {
      const executor = await create();
      const heard = Promise.withResolvers<void>();
      async function* pieces(): AsyncGenerator<string> {
        yield "one\n";
        await heard.promise;
        yield "two\n";
      }
      const response = await executor.execute({ command: "cat", stdin: pieces(), onOutput: () => heard.resolve() });
      expect(response.stdout).toBe("one\ntwo\n");
    });

    it("finds no more of the executor's environment than it needs, where that is asked for", async () => {
      const executor = await create();
      const { stdout } = await executor.execute({ command: "env", env: { GIVEN: "1" }, inheritEnv: false });
      const names = stdout.split("\n").flatMap((line) => /^[A-Za-z_]+(?==)/.exec(line) ?? []);
      expect(names).toEqual(expect.arrayContaining(["GIVEN", "PATH"]));
      expect(names.filter((name) => /^(LANG|USER|LOGNAME|TERM|NODE_ENV|VITEST|KEELSON_SHARED)$/.test(name))).toEqual([]);
    });

    it("tells its process once it runs, and its output while it runs", async () => {
      const executor = await create();
      const told: string[] = [];
      await executor.execute({
        command: "echo one",
        onStart: ({ pid }) => void told.push(pid > 0 ? "started" : "no process"),
        onOutput: (stream, text) => void told.push(`${stream}: ${text}`),
      });
      expect(told).toEqual(["started", "stdout: one\n"]);
    });

    it("is ended after its time, with what it had written", async () => {
      const executor = await create();
      const response = await executor.execute({ command: "echo begun; sleep 300 & sleep 300", timeoutMs: 1500 });
      expect(response).toMatchObject({ timedOut: true, stdout: "begun\n" });
    });

    it("is ended when its signal fires, which is told as cancelled", async () => {
      const executor = await create();
      const controller = new AbortController();
      const work = executor.execute({
        command: "echo ready; sleep 300",
        signal: controller.signal,
        onOutput: () => controller.abort(),
      });
      expect(await failureOf(work)).toMatchObject({ kind: "cancelled" });
    });

    it("that is no program here can't be run", async () => {
      const executor = await create();
      expect(await failureOf(executor.execute({ program: "no-such-program-here" }))).toMatchObject({ kind: "provision-failed" });
      expect(await failureOf(executor.execute({}))).toMatchObject({ kind: "other" });
    });

    it("that writes more than is kept gives head and tail, and the whole as a blob, to be read in pieces", async () => {
      const executor = await create();
      await using blobs = createMemoryBlobStore();
      const command = "echo first; yes 0123456789 | head -n 20000; echo last";
      const response = await executor.execute({ command, maxOutputBytes: 1000, blobs });
      expect(response.stdout).toMatch(/^first\n0123456789\n/);
      expect(response.stdout).toMatch(/\[\.\.\. \d+ bytes omitted \.\.\.\]/);
      expect(response.stdout).toMatch(/0123456789\nlast\n$/);
      const whole = `first\n${"0123456789\n".repeat(20_000)}last\n`;
      expect(response.stdoutBytes).toBe(whole.length);
      if (response.stdoutBlob === undefined) throw new Error("the whole output was not kept");
      const page = await blobs.get(response.stdoutBlob, { start: 100_000, end: 100_100 });
      expect(Buffer.from(page).toString()).toBe(whole.slice(100_000, 100_100));
      expect(Buffer.from(await blobs.get(response.stdoutBlob)).toString()).toBe(whole);
      expect(response).not.toHaveProperty("stderrBlob");
    });

    it("that writes less than that leaves no blob", async () => {
      const executor = await create();
      await using blobs = createMemoryBlobStore();
      expect(await executor.execute({ command: "echo little", blobs })).not.toHaveProperty("stdoutBlob");
    });

    it.runIf(terminals)("has a terminal of the size that it asks for, and none else", async () => {
      const executor = await create();
      const command = "test -t 0 && test -t 1 && test -t 2 && echo terminal || echo none; stty size 2>/dev/null";
      const response = await executor.execute({ command, pty: { columns: 97, rows: 31 } });
      expect(response).toMatchObject({ exitCode: 0, stderr: "" });
      expect(response.stdout.replaceAll("\r", "")).toBe("terminal\n31 97\n");
      expect((await executor.execute({ command })).stdout).toBe("none\n");
    });

    it.runIf(terminals)("on a terminal reads its input to the end, and gives its exit code and its signal", async () => {
      const executor = await create();
      const response = await executor.execute({ command: "read -r name; echo hello $name; cat; exit 7", pty: true, stdin: "Ada\n" });
      expect(response.exitCode).toBe(7);
      expect(response.stdout).toContain("hello Ada");
      expect(await executor.execute({ command: "kill -9 $$", pty: true })).toMatchObject({ exitCode: null, signal: "SIGKILL" });
    });

    it.runIf(terminals)("on a terminal ends with all it started", async () => {
      const executor = await create();
      const response = await executor.execute({ command: "sleep 300 & echo begun; sleep 300", pty: true, timeoutMs: 1500 });
      expect(response).toMatchObject({ timedOut: true });
      expect(await failureOf(executor.execute({ program: "no-such-program-here", pty: true }))).toMatchObject({ kind: "provision-failed" });
      expect((await executor.processes?.()) ?? []).toEqual([]);
    });

    it.skipIf(terminals)("is refused with the reason when it asks for a terminal", async () => {
      const executor = await create();
      expect(await failureOf(executor.execute({ command: "true", pty: true }))).toMatchObject({ kind: "unsupported" });
    });
  });
}
