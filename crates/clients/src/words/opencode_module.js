// Provost for OpenCode: asks `provost hook` before and after each tool call, at each prompt, and when a turn ends.
// `provost init --client opencode` writes this file with the program and the packs of this installation.
import { spawn } from "node:child_process"

const PROGRAM = "provost"
const ARGUMENTS = ["hook","--client","opencode"]
// A review may run when a turn ends. Everything else takes milliseconds.
const MOST_MILLISECONDS = { Stop: 7_200_000, SubagentStop: 7_200_000 }
const USUAL_MILLISECONDS = 10_000

// Sends one event, and returns what Provost answers. Without the program, nothing is denied.
function ask(event) {
  return new Promise((resolve) => {
    let stdout = ""
    let stderr = ""
    const timeout = MOST_MILLISECONDS[event.hook_event_name] ?? USUAL_MILLISECONDS
    const child = spawn(PROGRAM, ARGUMENTS, { timeout, stdio: ["pipe", "pipe", "pipe"] })
    child.on("error", (error) => resolve({ missing: error.code === "ENOENT" }))
    child.stdin.on("error", () => {})
    child.stdout.on("data", (data) => (stdout += data))
    child.stderr.on("data", (data) => (stderr += data))
    child.on("close", (code) => {
      if (code === 2) return resolve({ denied: stderr.trim() || "[provost] denied" })
      let answer = {}
      try {
        answer = JSON.parse(stdout)
      } catch {}
      const specific = answer.hookSpecificOutput ?? {}
      resolve({
        denied: answer.decision === "block" ? answer.reason || "[provost] denied" : undefined,
        context: specific.additionalContext,
        message: answer.systemMessage,
      })
    })
    child.stdin.end(JSON.stringify(event))
  })
}

export const Provost = async ({ client, directory }) => {
  const held = new Set()
  const agents = new Map()
  const parents = new Map()

  // The fields of a session that runs as a subagent: its prompts are an agent's, never the user's. A session whose parent
  // cannot be asked for counts as a subagent.
  async function describe(session) {
    if (!parents.has(session)) {
      const found = await client.session.get({ path: { id: session } }).catch(() => undefined)
      parents.set(session, found?.data ? (found.data.parentID ?? null) : "unknown")
    }
    const kind = agents.get(session)
    const common = { session_id: session, cwd: directory, permission_mode: kind === "plan" ? "plan" : undefined }
    return parents.get(session) === null ? common : { ...common, agent_id: session, agent_type: kind }
  }

  async function show(answer) {
    const missing = answer.missing && "[provost] Tool calls are not checked: there is no program provost. To fix: install Provost."
    const message = answer.message ?? missing
    if (message) await client.tui.showToast({ body: { message, variant: "warning" } }).catch(() => {})
  }

  return {
    event: async ({ event }) => {
      if (event.type === "session.created") {
        const { id, parentID } = event.properties.info
        parents.set(id, parentID ?? null)
        if (!parentID) await show(await ask({ hook_event_name: "SessionStart", source: "startup", ...(await describe(id)) }))
      }
      if (event.type !== "session.idle") return
      const id = event.properties.sessionID
      const common = await describe(id)
      const name = common.agent_id ? "SubagentStop" : "Stop"
      const answer = await ask({ hook_event_name: name, ...common, stop_hook_active: held.has(id) })
      await show(answer)
      if (!answer.denied || name !== "Stop") return held.delete(id)
      held.add(id)
      await client.session.promptAsync({ path: { id }, body: { parts: [{ type: "text", text: answer.denied }] } })
    },
    "chat.message": async (input, output) => {
      agents.set(input.sessionID, input.agent)
      const texts = output.parts.filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text)
      const answer = await ask({ hook_event_name: "UserPromptSubmit", ...(await describe(input.sessionID)), prompt: texts.join("\n") })
      await show(answer)
      if (answer.denied) throw new Error(answer.denied)
      if (answer.context && output.parts.length > 0) {
        const id = `prt_${Date.now().toString(36)}provost`
        output.parts.push({ ...output.parts[0], id, type: "text", text: answer.context, synthetic: true })
      }
    },
    "tool.execute.before": async (input, output) => {
      const call = { tool_name: input.tool, tool_use_id: input.callID, tool_input: output.args }
      const answer = await ask({ hook_event_name: "PreToolUse", ...(await describe(input.sessionID)), ...call })
      await show(answer)
      if (answer.denied) throw new Error(answer.denied)
    },
    "tool.execute.after": async (input, output) => {
      const exit = output.metadata?.exit
      const response = typeof exit === "number" ? { output: output.output, exit_code: exit } : output.output
      const call = { tool_name: input.tool, tool_use_id: input.callID, tool_input: input.args, tool_response: response }
      const answer = await ask({ hook_event_name: "PostToolUse", ...(await describe(input.sessionID)), ...call })
      await show(answer)
      const text = answer.denied ?? answer.context
      if (text) output.output += `\n${text}`
    },
  }
}
