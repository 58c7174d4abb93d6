// OpenClaw's events to wellkept's hook process, and its answers back. `wellkept install openclaw` pins the commands.

import { spawn } from "node:child_process";

const WAIT_MS = 3000;
const STDIN_BYTES = 3 * 1024 * 1024;
const UNASKED = new Set(["heartbeat", "cron"]);

/** What the pinned command of an event prints, as an object; {} for nothing, and for whatever goes wrong. */
function ask(command, event) {
  return new Promise((resolve) => {
    if (!Array.isArray(command) || command.length === 0) return resolve({});
    let said = "";
    const done = () => {
      try {
        resolve(JSON.parse(said || "{}"));
      } catch {
        resolve({});
      }
    };
    const child = spawn(command[0], command.slice(1), { stdio: ["pipe", "pipe", "ignore"], timeout: WAIT_MS });
    child.on("error", () => resolve({}));
    child.on("close", done);
    child.stdout.setEncoding("utf8").on("data", (piece) => (said += piece));
    child.stdin.on("error", () => {});
    child.stdin.end(JSON.stringify(event));
  });
}

/** The text of a message, whether its content is one string or blocks. */
function textOf(content) {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  const texts = content.filter((block) => block?.type === "text" && typeof block.text === "string");
  return texts.map((block) => block.text).join("\n");
}

/** What the two sides said, the newest that fit. */
function said(messages) {
  const kept = [];
  let room = STDIN_BYTES;
  for (const message of (Array.isArray(messages) ? messages : []).toReversed()) {
    if (message?.role !== "user" && message?.role !== "assistant") continue;
    const text = textOf(message.content);
    room -= Buffer.byteLength(JSON.stringify(text)) + 100;
    if (room < 0) break;
    if (text) kept.push({ role: message.role, text, ts: message.timestamp ?? null });
  }
  return kept.reverse();
}

export default {
  id: "wellkept",
  name: "wellkept",
  register(api) {
    const commands = api.pluginConfig?.commands ?? {};
    const begun = new Set();
    const session = (ctx) => String(ctx?.sessionId ?? ctx?.sessionKey ?? "");

    api.on("before_prompt_build", async (event, ctx) => {
      if (UNASKED.has(ctx?.trigger)) return undefined;
      const turn = {
        session_id: session(ctx),
        prompt: event.currentUserMessage ?? event.prompt ?? "",
        messages: said(event.messages),
      };
      const fresh = !begun.has(turn.session_id);
      begun.add(turn.session_id);
      const opening = fresh ? await ask(commands["session-start"], { session_id: turn.session_id }) : {};
      const pointers = await ask(commands["user-prompt"], turn);
      const texts = [opening, pointers].map((answer) => answer.prependContext).filter((text) => text);
      return texts.length > 0 ? { prependContext: texts.join("\n\n") } : undefined;
    });

    const keep = (name) => async (event, ctx) => {
      const messages = said(event?.messages);
      if (messages.length > 0) await ask(commands[name], { session_id: session(ctx), messages });
    };
    api.on("agent_end", keep("stop"));
    api.on("before_compaction", keep("pre-compact"));
    api.on("before_reset", keep("session-end"));
  },
};
