import { agentTool, createAgent, handoffTool, waitForSignalTool, type Agent, type AgentOptions } from "../../../agent/index.ts";
import type { EngineScenario } from "../engine-scenario.ts";
import type { ScenarioKit, ScenarioTurn } from "../scenario-kit.ts";
import { call, calls, task, team } from "./one-agent.ts";

const about = "children";

function agent(kit: ScenarioKit, name: string, turns: readonly ScenarioTurn[], options: Partial<AgentOptions> = {}): Agent {
  return createAgent({ name, model: kit.model(turns), ...options });
}

/** One that may print when somebody allows it. */
function printer(kit: ScenarioKit, name: string): Agent {
  return agent(kit, name, [call("print", { pages: 3 }), "It is printed."], {
    tools: [kit.tool("print", "write")],
    permissions: { rules: [{ pattern: "print", behavior: "ask" }] },
  });
}

export const CHILDREN: readonly EngineScenario[] = [
  team({
    name: "asks-a-child",
    about,
    agents(kit) {
      const cook = agent(kit, "asks-a-child-cook", [call("stir"), "The soup is ready."], { tools: [kit.tool("stir", "write")] });
      return [
        agent(kit, this.name, [task(cook.name), call("serve"), "Dinner is served."], {
          tools: [agentTool(cook), kit.tool("serve", "write")],
        }),
      ];
    },
    ends: { reason: "complete", text: "Dinner is served." },
    writes: { stir: 1, serve: 1 },
  }),
  team({
    name: "asks-children-side-by-side",
    about,
    agents(kit) {
      const names = ["one", "two", "three"].map((name) => `${this.name}-${name}`);
      const helpers = names.map((name) => agent(kit, name, [call("dig"), `${name} has dug.`], { tools: [kit.tool("dig", "write")] }));
      return [agent(kit, this.name, [task(...names), "All have dug."], { tools: helpers.map((helper) => agentTool(helper)) })];
    },
    ends: { reason: "complete", text: "All have dug." },
    writes: { dig: 3 },
  }),
  team({
    name: "asks-the-same-child-twice",
    about,
    agents(kit) {
      const helper = agent(kit, `${this.name}-helper`, [call("dig"), "It is dug."], { tools: [kit.tool("dig", "write")] });
      return [agent(kit, this.name, [task(helper.name), task(helper.name), "Two holes."], { tools: [agentTool(helper)] })];
    },
    ends: { reason: "complete", text: "Two holes." },
    writes: { dig: 2 },
  }),
  team({
    name: "asks-a-child-that-asks-a-child",
    about,
    agents(kit) {
      const lowest = agent(kit, `${this.name}-lowest`, [call("dig"), "Dug."], { tools: [kit.tool("dig", "write")] });
      const middle = agent(kit, `${this.name}-middle`, [task(lowest.name), "It dug."], { tools: [agentTool(lowest)] });
      return [agent(kit, this.name, [task(middle.name), "There is a hole."], { tools: [agentTool(middle)] })];
    },
    ends: { reason: "complete", text: "There is a hole." },
    writes: { dig: 1 },
  }),
  team({
    name: "a-child-asks-people",
    about,
    agents(kit) {
      const helper = printer(kit, `${this.name}-printer`);
      return [agent(kit, this.name, [task(helper.name), "The helper has printed it."], { tools: [agentTool(helper)] })];
    },
    acts: [{ type: "decide", tool: "print", decision: { type: "allow" } }],
    ends: { reason: "complete", text: "The helper has printed it." },
    writes: { print: 1 },
  }),
  team({
    name: "a-child-of-a-child-asks-people",
    about,
    agents(kit) {
      const lowest = printer(kit, `${this.name}-printer`);
      const middle = agent(kit, `${this.name}-middle`, [task(lowest.name), "It printed."], { tools: [agentTool(lowest)] });
      return [agent(kit, this.name, [task(middle.name), "It is on paper."], { tools: [agentTool(middle)] })];
    },
    acts: [{ type: "decide", tool: "print", decision: { type: "allow" } }],
    ends: { reason: "complete", text: "It is on paper." },
    writes: { print: 1 },
  }),
  team({
    name: "asks-people-beside-a-child-that-does",
    about,
    agents(kit) {
      const helper = printer(kit, `${this.name}-printer`);
      return [
        agent(kit, this.name, [{ toolCalls: [...(task(helper.name).toolCalls ?? []), { name: "pay", input: {} }] }, "Printed and paid."], {
          tools: [agentTool(helper), kit.tool("pay", "write")],
          permissions: { rules: [{ pattern: "pay", behavior: "ask" }] },
        }),
      ];
    },
    acts: [
      { type: "decide", tool: "pay", decision: { type: "allow" } },
      { type: "decide", tool: "print", decision: { type: "allow" } },
    ],
    ends: { reason: "complete", text: "Printed and paid." },
    writes: { print: 1, pay: 1 },
  }),
  team({
    name: "a-child-waits-for-a-signal",
    about,
    agents(kit) {
      const helper = agent(kit, `${this.name}-postman`, [call("wait_for_signal"), call("send"), "Delivered."], {
        tools: [waitForSignalTool({ kinds: ["mail"] }), kit.tool("send", "write")],
      });
      return [agent(kit, this.name, [task(helper.name), "It was delivered."], { tools: [agentTool(helper)] })];
    },
    acts: [{ type: "signal", signal: { kind: "mail", payload: 1 }, to: "a-child-waits-for-a-signal-postman" }],
    ends: { reason: "complete", text: "It was delivered." },
    writes: { send: 1 },
  }),
  team({
    name: "a-child-waits-for-a-moment",
    about,
    agents(kit) {
      const helper = agent(kit, `${this.name}-sleeper`, [call("wait"), call("send"), "Sent."], {
        tools: [waitForSignalTool({ kinds: [], timeoutMs: 300 }), kit.tool("send", "write")],
      });
      return [agent(kit, this.name, [task(helper.name), "It was sent."], { tools: [agentTool(helper)] })];
    },
    ends: { reason: "complete", text: "It was sent." },
    writes: { send: 1 },
  }),
  team({
    name: "works-beside-a-child",
    about,
    agents(kit) {
      const helper = printer(kit, `${this.name}-printer`);
      return [
        agent(kit, this.name, [task(helper.name), call("send"), "It is being printed.", "Now it is."], {
          tools: [agentTool(helper, { background: true }), kit.tool("send", "write")],
        }),
      ];
    },
    acts: [{ type: "decide", tool: "print", decision: { type: "allow" } }],
    ends: { reason: "complete", text: "Now it is." },
    writes: { send: 1, print: 1 },
  }),
  team({
    name: "a-child-fails",
    about,
    agents(kit) {
      const helper = agent(kit, `${this.name}-helper`, [call("dig"), { error: { kind: "invalid-request", message: "it is cursed" } }], {
        tools: [kit.tool("dig", "write")],
      });
      return [agent(kit, this.name, [task(helper.name), "It could not be done."], { tools: [agentTool(helper)] })];
    },
    ends: { reason: "complete", text: "It could not be done." },
    writes: { dig: 1 },
  }),
  team({
    name: "a-child-has-too-few-turns",
    about,
    agents(kit) {
      const helper = agent(kit, `${this.name}-helper`, [call("dig"), call("dig", { deeper: true }), "never"], {
        tools: [kit.tool("dig", "write")],
      });
      return [
        agent(kit, this.name, [task(helper.name), "It got as far as that."], { tools: [agentTool(helper, { limits: { maxTurns: 2 } })] }),
      ];
    },
    ends: { reason: "complete", text: "It got as far as that." },
    writes: { dig: 2 },
  }),
  team({
    name: "a-child-is-stopped-with-its-parent",
    about,
    agents(kit) {
      const helper = printer(kit, `${this.name}-printer`);
      return [agent(kit, this.name, [task(helper.name), "never"], { tools: [agentTool(helper)] })];
    },
    acts: [{ type: "stop" }],
    ends: { reason: "stopped" },
  }),
  team({
    name: "children-are-aborted-with-their-parent",
    about,
    agents(kit) {
      const helpers = ["one", "two"].map((name) => printer(kit, `${this.name}-${name}`));
      return [
        agent(kit, this.name, [task(...helpers.map(({ name }) => name)), "never"], { tools: helpers.map((helper) => agentTool(helper)) }),
      ];
    },
    acts: [{ type: "abort", reason: "enough" }],
    ends: { reason: "aborted" },
  }),
];

export const HANDOFFS: readonly EngineScenario[] = [
  team({
    name: "hands-off",
    about: "handoff",
    agents(kit) {
      const billing = agent(kit, `${this.name}-billing`, ["never"]);
      return [
        agent(kit, this.name, [{ toolCalls: [...(calls("note").toolCalls ?? []), ...(task(`to_billing`).toolCalls ?? [])] }, "never"], {
          tools: [kit.tool("note", "write"), handoffTool(billing, { name: "to_billing" })],
        }),
      ];
    },
    ends: { reason: "handed-off" },
    writes: { note: 1 },
  }),
  team({
    name: "a-child-hands-off",
    about: "handoff",
    agents(kit) {
      const billing = agent(kit, `${this.name}-billing`, [call("refund"), "Refunded."], { tools: [kit.tool("refund", "write")] });
      const triage = agent(kit, `${this.name}-triage`, [task("to_billing"), "never"], {
        tools: [handoffTool(billing, { name: "to_billing" })],
      });
      return [agent(kit, this.name, [task(triage.name), "The money is back."], { tools: [agentTool(triage)] })];
    },
    ends: { reason: "complete", text: "The money is back." },
    writes: { refund: 1 },
  }),
];
