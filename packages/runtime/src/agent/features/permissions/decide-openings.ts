import type { AlwaysChoice, Loss, PermissionMode } from "@keelson/protocol";
import { exactRule } from "../../../session/exact-rule.ts";
import type { RuleVerdict } from "../../definition/permissions/compiled-policy.ts";
import { matchesGlob } from "../../definition/permissions/glob.ts";
import type { JudgedCall } from "../../definition/permissions/judged-call.ts";
import type { PermissionDecision } from "../../definition/permissions/permission-decision.ts";
import { seePath } from "../../definition/permissions/path-pattern.ts";
import { describeCall } from "./describe-question.ts";
import { allowsLoss, bindsHost, isExactly, opensFile } from "../../definition/permissions/match-rule.ts";

/** The allow rules of a call that asks to run outside of the sandbox: those about `outside` in the place of those about its tool. */
export function outsideRules(rules: readonly RuleVerdict[]): readonly RuleVerdict[] {
  return rules.flatMap((rule) => {
    if (rule.compiled.opens === "outside") return [{ ...rule, own: true }];
    return rule.own ? [] : [rule];
  });
}

/** Returns the call with commands that only run unasked inside of a sandbox. */
export function outsideCall(call: JudgedCall): JudgedCall {
  const { effects } = call;
  if (effects?.commands === undefined) return call;
  return { ...call, effects: { ...effects, commands: effects.commands.map(({ readOnly: _, ...command }) => command) } };
}

/** Asks about a call outside of the sandbox that no rule about `outside` covers. `decision` is what such rules alone say. */
export function decideOutside(decision: PermissionDecision, call: JudgedCall, mode: PermissionMode): PermissionDecision {
  const { outside } = call.effects ?? {};
  if (outside === undefined || decision.behavior === "deny" || decision.rule !== undefined || mode === "bypass-all") return decision;
  const asked = `It asks to run outside of the sandbox, where nothing confines it: ${JSON.stringify(outside.reason)}.`;
  return {
    behavior: "ask",
    reason: decision.behavior === "ask" && decision.always?.length === 1 ? `${asked} ${decision.reason}` : asked,
    shown: describeCall(call, `would run outside of the sandbox, where nothing confines it: ${JSON.stringify(outside.reason)}`),
    always: [{ scope: "outside", rules: [exactRule("outside", call.text())] }],
  };
}

interface OpeningRules {
  readonly mode: PermissionMode;
  readonly allow: readonly RuleVerdict[];
}

/**
 * Makes a decision stricter where the call asks for hosts, ports or hidden files of the sandbox, or for the loss of files, that no rule about `host`,
 * `port`, `reveal` or `lose` opens.
 */
export function decideOpenings(decision: PermissionDecision, call: JudgedCall, rules: OpeningRules): PermissionDecision {
  if (decision.behavior === "deny" || rules.mode === "bypass-all") return decision;
  return withUnknownLoss(withOpenings(decision, call, rules), call);
}

function withOpenings(decision: PermissionDecision, call: JudgedCall, { mode, allow }: OpeningRules): PermissionDecision {
  const { confined, ports = [], reveals = [], loses = [] } = call.effects ?? {};
  const hosts = (confined?.closed ?? []).filter((host) => !allow.some((rule) => opensHost(rule, host)));
  const closedPorts = ports.map(String).filter((port) => !allow.some((rule) => opensPort(rule, port)));
  const files = reveals.filter((file) => !allow.some(({ compiled }) => opensFile(compiled, file)));
  // The author of a rule that is exactly this call had its files in view.
  const isSpelled = loses.length > 0 && allow.some((rule) => isExactly(rule, call));
  const losses = isSpelled ? [] : loses.filter(({ path }) => !allow.some(({ compiled }) => allowsLoss(compiled, path, call.cwd)));
  if (hosts.length + closedPorts.length + files.length + losses.length === 0) return decision;
  const reasons = [
    ...(hosts.length > 0 ? [`The sandbox has no connection to ${hosts.join(", ")} yet.`] : []),
    ...(closedPorts.length > 0
      ? [`Port ${closedPorts.join(", ")} of the sandbox would be reachable on this machine, for its browser and every other program.`]
      : []),
    ...(files.length > 0 ? [`It would see ${files.join(", ")}, which the sandbox hides because it may hold secrets.`] : []),
    ...(losses.length > 0
      ? [`It may destroy what nothing can bring back: ${losses.map(({ description }) => description).join("; ")}.`]
      : []),
  ];
  if (mode === "deny-unauthorized")
    return {
      behavior: "deny",
      reason: `${reasons.join(" ")} In permission mode deny-unauthorized nobody is asked: rules such as "host(example.com)", "port(3000)", "reveal(.env)" and "lose(dist)" open them.`,
    };
  const rules = [
    ...hosts.map((host) => exactRule("host", host)),
    ...closedPorts.map((port) => exactRule("port", port)),
    ...files.map((file) => exactRule("reveal", file)),
    ...lossRules(losses, call),
  ];
  const scope = hosts.length > 0 ? "host" : closedPorts.length > 0 ? "port" : files.length > 0 ? "reveal" : "lose";
  const opened: AlwaysChoice = { scope, rules };
  const summary = reasons.map((reason) => reason.replace(/\.$/, "")).join("; ");
  if (decision.behavior === "allow") return { behavior: "ask", reason: reasons.join(" "), always: [opened], shown: { summary } };
  // A lasting answer must answer the other question about the call, too.
  const [exact] = decision.always ?? [];
  const always = exact === undefined ? {} : { always: [{ scope: exact.scope, rules: [...exact.rules, ...rules] }] };
  const shown = {
    ...decision.shown,
    summary: decision.shown === undefined ? summary : `${decision.shown.summary}; ${inSentence(summary)}`,
  };
  return { behavior: "ask", reason: `${decision.reason} ${reasons.join(" ")}`, ...always, shown };
}

/** Returns rules about the losses; one that is exactly the call if these are not known. */
function lossRules(losses: readonly Loss[], { tool, cwd, text }: JudgedCall): readonly string[] {
  const isUnknown = losses.some(({ path }) => path === "*");
  return isUnknown ? [exactRule(tool.name, text())] : losses.map(({ path }) => exactRule("lose", seePath(path, cwd).shown));
}

/** Adds to a question that not all that the call may destroy is known. */
function withUnknownLoss(decision: PermissionDecision, { effects }: JudgedCall): PermissionDecision {
  const { mayLose } = effects ?? {};
  if (mayLose === undefined || decision.behavior !== "ask") return decision;
  const { shown } = decision;
  return {
    ...decision,
    reason: `${decision.reason} ${mayLose}`,
    ...(shown && { shown: { ...shown, summary: `${shown.summary}; ${inSentence(mayLose)}` } }),
  };
}

/** Returns a sentence as the second part of another. */
function inSentence(text: string): string {
  return `${text.charAt(0).toLowerCase()}${text.slice(1).replace(/\.$/, "")}`;
}

function opensHost(rule: RuleVerdict, host: string): boolean {
  return rule.compiled.opens === "host" && (rule.compiled.argument === undefined || bindsHost(rule, host));
}

function opensPort({ compiled: { opens, argument } }: RuleVerdict, port: string): boolean {
  return opens === "port" && (argument === undefined || matchesGlob(argument, port));
}
