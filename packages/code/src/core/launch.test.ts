import { usd } from "@keelson/protocol";
import { expect, it } from "vitest";
import { type Launch, launchFromMetadata, launchToMetadata, mergedOptions } from "./launch.ts";

const launch: Launch = {
  cwd: "/project",
  facts: "At the start of this session:",
  presentsPlans: true,
  user: "ada",
  agent: {
    model: "a/b",
    fallbackModel: "a/c",
    effort: "high",
    folders: ["/shared"],
    appendSystemPrompt: "Answer in French.",
    outputSchema: { type: "object" },
    permissionMode: "accept-edits",
    policy: "/home/ada/policy.json",
    sandbox: true,
    mcp: false,
    mcpConfig: "/home/ada/servers.json",
    maxTurns: 3,
    maxCost: usd("0.5"),
    timeoutMs: 1_000,
    rules: [{ pattern: "bash(npm *)", behavior: "allow" }],
  },
};

it("comes back from the log as it went in", () => {
  expect(launchFromMetadata(JSON.parse(JSON.stringify(launchToMetadata(launch))))).toEqual(launch);
});

it("tells a sandbox by default from one that was asked for, and records that there was none", () => {
  const { sandbox: _sandbox, ...agent } = launch.agent;
  for (const one of [
    { ...launch, inSandbox: true },
    { ...launch, agent, inSandbox: true },
    { ...launch, agent, inSandbox: false },
    { ...launch, agent: { ...agent, sandbox: false }, inSandbox: false },
  ])
    expect(launchFromMetadata(JSON.parse(JSON.stringify(launchToMetadata(one))))).toEqual(one);
});

it("leaves to defaults what it does not understand, and never widens by it", () => {
  expect(
    launchFromMetadata({
      cwd: "/p",
      launch: { permissionMode: "yolo", rules: [{ pattern: "*", behavior: "please" }, 7], maxTurns: "many" },
    }),
  ).toEqual({ cwd: "/p", agent: { rules: [] } });
  expect(launchFromMetadata({ cwd: "/p", launch: { policy: 7, sandbox: "strictly", mcp: "none" } })).toEqual({
    cwd: "/p",
    agent: { rules: [], sandbox: true, mcp: false },
  });
  expect(launchFromMetadata({ cwd: "/p" })).toEqual({ cwd: "/p", agent: { rules: [] } });
  expect(launchFromMetadata({})).toBeUndefined();
  expect(launchFromMetadata(undefined)).toBeUndefined();
});

it("takes what is given now before what was recorded, and keeps the rules of both", () => {
  expect(mergedOptions(launch.agent, { model: "x/y", rules: [{ pattern: "bash", behavior: "deny" }] })).toEqual({
    ...launch.agent,
    model: "x/y",
    rules: [
      { pattern: "bash(npm *)", behavior: "allow" },
      { pattern: "bash", behavior: "deny" },
    ],
  });
});
