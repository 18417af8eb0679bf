// Writes the journal of a month of heavy use to standard output, always the same: `node month.mjs PROJECT [hostile]`.
//
// The browser tests and `scripts/pictures` make reports from it. With `hostile`, some texts try to break out of the page.
// The month ends on 2026-11-17 at 18:00 UTC.

const [project, flavour] = process.argv.slice(2);

// A generator of numbers that is the same everywhere.
let seed = 20261117n;
const below = (limit) => {
  seed = (seed * 6364136223846793005n + 1442695040888963407n) & 0xffffffffffffffffn;
  return Number((seed >> 33n) % BigInt(limit));
};
const pick = (list) => list[below(list.length)];
const chance = (percent) => below(100) < percent;
const hex = (digits) => Array.from({ length: digits }, () => below(16).toString(16)).join('');

const BRANCH = 'feature/REQ-0012-checkout';
const denials = [
  { weight: 24, guard: 'branch-guard', tool: 'Bash', subjects: ['git commit -am "Add VAT to the checkout"', 'git push origin HEAD:main', 'git merge --no-ff ' + BRANCH],
    what: (s) => `\`${s}\` denied: it lands on \`main\`, not on \`${BRANCH}\``, why: 'the work of this workflow belongs on its branch',
    fix: `switch first: \`git checkout ${BRANCH}\`, then try again`, evidence: ['HEAD is refs/heads/main', `the workflow's branch is ${BRANCH}`] },
  { weight: 18, guard: 'rule:no-force-push', tool: 'Bash', subjects: ['git push --force origin main', 'git push -f', 'git push -uf origin ' + BRANCH],
    what: (s) => `\`${s}\` denied by rule:no-force-push`, why: 'it rewrites history that others have', fix: 'rebase onto the remote branch and push without force',
    evidence: ['runs `git push` with --force'] },
  { weight: 15, guard: 'rule:tests-before-done', stop: true, subjects: [],
    what: () => 'the turn cannot end yet', why: '`cargo test` has not passed since src/checkout/vat.rs changed', fix: 'run `cargo test` until it passes',
    evidence: ['src/checkout/vat.rs changed after the last run of `cargo test`'] },
  { weight: 12, guard: 'self-guard', tool: 'Bash', subjects: ['sed -i "s/enforce/off/" provost.toml', 'rm .claude/settings.json', 'echo "{}" > .claude/settings.local.json'],
    what: (s) => `\`${s}\` denied: it changes Provost's configuration`, why: 'no guard may be switched off from inside a session',
    fix: 'ask the user to change it in an editor', evidence: ['provost.toml is Provost\u2019s configuration'] },
  { weight: 10, guard: 'rule:migrations-are-final', tool: 'Edit', subjects: ['db/migrations/0042_orders.sql', 'db/migrations/0007_users.sql'],
    what: (s) => `a change to \`${s}\` denied by rule:migrations-are-final`, why: 'applied migrations are not edited', fix: 'write a new migration',
    evidence: ['the file is in the last commit'] },
  { weight: 7, guard: 'planner-bash-guard', tool: 'Bash', agent: 'tdd-planner', subjects: ['npm test -- --watch=false > plan/results.txt', 'python3 - <<\'EOF\'\nimport pathlib\npathlib.Path("plan.md").write_text("done")\nEOF'],
    what: () => 'the planner may not write files with a command', why: 'planning agents only read', fix: 'write the plan with the Write tool',
    evidence: ['the command writes a file in the project'] },
  { weight: 5, guard: 'plan-gate', tool: 'ExitPlanMode', subjects: ['plans/checkout-vat.md'],
    what: () => 'the plan cannot be approved yet', why: 'it does not name its serious gaps', fix: 'add the section `Gaps` and have it assessed again',
    evidence: ['no heading `Gaps`'] },
  { weight: 5, guard: 'rule:keys-stay-here', tool: 'Read', word: 'ask', subjects: ['.env', 'deploy/.env.production'],
    what: (s) => `reading \`${s}\` needs your consent`, why: 'it holds secrets', fix: 'answer the question of the client', evidence: ['the path matches `**/.env`'] },
  { weight: 4, guard: 'rule:pnpm', tool: 'Bash', word: 'would deny', subjects: ['npm install left-pad', 'yarn'],
    what: (s) => `\`${s}\` denied by rule:pnpm`, why: 'this project uses pnpm', fix: 'run `pnpm install`', evidence: ['runs `npm install`'] },
];
const hostile = [
  '</script><script>document.title = "broken out"</script>', '"><img src=x onerror="document.title=1">', "' onmouseover='document.title=2' x='",
  'echo \u202Etxt.exe\u2066 \u0007\u001b[31m red', '<!-- --><style>body{display:none}</style>', 'a'.repeat(290), '&lt;b&gt; &amp;amp; ${x} `y`', '\u05d0\u05d1\u05d2 rm -rf \u05d3',
  '"\u0000\ufeff\u200b\ud800"', 'one\ntwo\r\n\tthree',
];

const lines = [];
let count = 0;
const LETTERS = '0123456789abcdefghjkmnpqrstvwxyz';
const makeId = (time) => {
  let number = (BigInt(time) * 1000n + BigInt(count++ % 1000)) << 10n;
  let id = '';
  for (let at = 0; at < 13; at += 1) { id = LETTERS[Number(number & 31n)] + id; number >>= 5n; }
  return id;
};
const slow = () => 180 + below(500) + (chance(20) ? below(1500) : 0) + (chance(3) ? below(9000) : 0) + (below(2000) === 0 ? 400000 : 0);
const hash = (subject) => {
  let value = 7;
  for (const unit of subject) value = (value * 31 + unit.codePointAt(0)) >>> 0;
  return value.toString(16).padStart(8, '0');
};
const write = (session, event, fields, guards, decision, more = 0) => {
  session.time += 1000 + below(session.pace);
  const record = {
    id: makeId(session.time), time: new Date(session.time).toISOString(), version: '0.1.0', client: 'claude', project, event, session: session.id,
    ...fields, guards, decision, micros: slow() + more,
  };
  lines.push(JSON.stringify(record));
};
const silent = (guard) => ({ guard, opinion: 'silence', micros: 20 + below(90) });
const call = (session, tool, subject, agent) => ({
  turn: session.turn, ...(agent && { agent }), tool, call: `toolu_01${hex(22)}`, mode: 'default', subject_hash: hash(subject),
});
const allow = (session, tool, subject, agent) => {
  const fields = call(session, tool, subject, agent);
  write(session, 'PreToolUse', fields, [silent('self-guard'), silent('rules'), silent('branch-guard')], 'silence');
  const { subject_hash: _, ...after } = fields;
  write(session, 'PostToolUse', after, [silent('rules')], 'silence');
};
const opinion = (found, subject, word, reason) => ({
  guard: found.guard, opinion: word, what: found.what(subject), why: found.why, fix: found.fix,
  evidence: reason ? [...found.evidence, `overridden by the user: ${reason}`] : found.evidence, micros: 40 + below(400),
});
const stop = (session, found, subject, word, reason) => {
  const decision = word === 'would deny' ? 'silence' : word;
  if (found.stop) {
    write(session, 'Stop', { turn: session.turn, mode: 'default' }, [opinion(found, subject, word, reason)], decision, 900);
    return;
  }
  const fields = { ...call(session, found.tool, subject, found.agent), subject };
  write(session, 'PreToolUse', fields, [silent('config-check'), opinion(found, subject, word, reason)], decision);
};
const weights = denials.flatMap((found, at) => Array(found.weight).fill(at));
const deny = (session) => {
  const found = denials[pick(weights)];
  const subject = flavour === 'hostile' && chance(25) ? pick(hostile) : pick([...found.subjects, ...found.subjects, `${found.subjects[0]} `]);
  stop(session, found, subject ?? '', found.word ?? 'deny');
  if (found.stop || found.word) return;
  const then = below(100);
  if (then < 55) allow(session, found.tool, subject, found.agent);
  else if (then < 64) stop(session, found, subject, 'overridden', pick(['hotfix, agreed with the team', 'the branch is gone, this is the last commit', 'one time only']));
  else if (then < 74) stop(session, found, subject, 'deny');
};

const models = ['claude-opus-4-5', 'claude-haiku-4-5'];
const reviews = new Map([
  [3, ['checkout-vat', 'code-review', null, ['issues', 'issues', 'clean', 'clean']]], [6, ['search-index', 'plan-review', null, ['issues', null, 'clean', 'clean']]],
  [9, ['rate-limits', 'code-review', 'task 3', ['clean', 'clean']]], [13, ['invoice-pdf', 'code-review', null, ['issues', 'issues', 'issues', 'issues', 'clean', 'clean']]],
  [17, ['login-audit', 'plan-review', null, ['issues', 'clean', 'clean']]], [21, ['cart-merge', 'code-review', 'task 1', ['issues', 'clean', 'clean']]],
  [24, ['cart-merge', 'code-review', 'task 2', ['issues', 'issues', 'clean', 'clean']]], [28, ['export-csv', 'code-review', null, ['issues', 'issues']]],
]);
const review = (session, [plan, name, task, verdicts]) => verdicts.forEach((verdict, at) => {
  const isLast = verdict === 'clean' && verdicts[at - 1] === 'clean' || (verdicts.length === 2 && verdict === 'clean' && at === 1);
  const micros = 61000000 + below(180000000);
  const work = {
    guard: 'review-loop', opinion: isLast ? 'note' : 'deny', what: `the review of plan \`${plan}\` found ${verdict ?? 'no verdict'}`,
    why: `round ${at + 1} of ${name}`, fix: 'work through the findings, then end the turn again',
    review: { plan, review: name, task, round: at + 1, model: pick(models), verdict, is_last: isLast, micros }, evidence: [`plan ${plan}`], micros,
  };
  write(session, 'Stop', { turn: session.turn, mode: 'default' }, [work], isLast ? 'silence' : 'deny', micros);
});
const assess = (session, plan, passed) => write(
  session, 'SubagentStop', { turn: session.turn, agent: 'plan-critic' },
  [{ guard: 'plan-witness', opinion: 'note', assessment: { plan, passed, micros: 48000000 }, evidence: [plan], micros: 700 }], 'silence', 700);

const DAY = 86400000;
const start = Date.UTC(2026, 9, 19);
for (let day = 0; day < 30; day += 1) {
  const isWeekend = day % 7 >= 5;
  const sessions = isWeekend ? (chance(30) ? 1 : 0) : 2 + below(2);
  for (let number = 0; number < sessions; number += 1) {
    const session = {
      id: `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`, time: start + day * DAY + (7 + number * 3) * 3600000 + below(3600000), pace: 9000, turn: '',
    };
    write(session, 'SessionStart', {}, [silent('registration-guard'), silent('config-check')], 'silence', 14000);
    const prompts = 3 + below(6);
    for (let prompt = 0; prompt < prompts; prompt += 1) {
      session.turn = `${hex(8)}-0000-4000-8000-${hex(12)}`;
      write(session, 'UserPromptSubmit', { turn: session.turn, mode: 'default' }, [silent('override')], 'silence', 900);
      const calls = 8 + below(22);
      for (let at = 0; at < calls; at += 1) {
        if (chance(isWeekend ? 1 : 3)) deny(session);
        else allow(session, pick(['Bash', 'Read', 'Edit', 'Grep']), `file-${below(400)}.rs`);
      }
      if (chance(4)) write(session, 'PostToolUse', { turn: session.turn, tool: 'Task', mode: 'default' }, [{ guard: 'review-reminder', opinion: 'note', evidence: ['a phase ended'], micros: 90 }], 'silence');
      write(session, 'Stop', { turn: session.turn, mode: 'default' }, [silent('rules')], 'silence', 2100);
    }
    if (number === 0 && reviews.has(day)) review(session, reviews.get(day));
    if (number === 0 && day % 8 === 2) { assess(session, `plans/${['checkout-vat', 'search-index', 'rate-limits', 'login-audit'][day >> 3]}.md`, day !== 10); assess(session, 'plans/checkout-vat.md', true); }
    if (number === 1 && day % 11 === 4) write(session, 'PreToolUse', call(session, 'Skill', 'review'), [{ guard: 'skill-validator', opinion: 'fault', what: 'skill-validator did not judge this call', why: '.isdlc/state.json: expected value at line 1 column 1', fix: 'repair the file, or remove it', micros: 210 }], 'silence');
    write(session, 'SessionEnd', {}, [], 'silence');
  }
}
lines.push('{"id":"1k0cut', '\u0001 not a line');
process.stdout.write(lines.join('\n') + '\n');
