import { readCommandLine } from "keelson/environment";
import { expect, it } from "vitest";
import { untrustedOutput } from "./untrusted-output.ts";

const from = async (command: string, outside: readonly string[] = []) =>
  untrustedOutput({ command }, { effects: await readCommandLine(command, { cwd: "/project" }), outside });

it.each([
  ["curl -s https://example.com/page | head", "example.com"],
  ["cd sub && gh issue view 5", "gh"],
  ["/usr/bin/gh pr view 7 --comments", "gh"],
  ["git pull --rebase", "git pull"],
  ["npm view left-pad readme", "npm view"],
])("takes the output of `%s` for the words of somebody else", async (command, source) => {
  expect(await from(command)).toBe(source);
});

it.each(["npm test", "git log --oneline", "cat README.md", "ls -la", "curl http://localhost:3000/health | cat > /dev/null"])(
  "takes the output of `%s` for the workspace's, but where the program only ever speaks for servers",
  async (command) => {
    expect(await from(command)).toBe(command.startsWith("curl") ? "curl" : undefined);
  },
);

it("takes files outside of the workspace for untrusted", async () => {
  expect(await from("cat /tmp/mail.txt", ["/tmp/mail.txt"])).toBe("/tmp/mail.txt");
});
