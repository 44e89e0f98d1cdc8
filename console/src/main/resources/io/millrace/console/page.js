// The console's page. Everything that is shown goes through textContent: peers choose some of these texts.
'use strict';

const token = new URLSearchParams(location.hash.slice(1)).get('token') ?? sessionStorage.getItem('token') ?? '';
if (token) {
  sessionStorage.setItem('token', token);
  history.replaceState(null, '', location.pathname);
}

const main = document.getElementById('main');
const dialog = document.getElementById('detail');
const state = document.getElementById('state');
const pauseButton = document.getElementById('pause');
const SAMPLES = 60;

// ---- Building elements ----

function el(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else if (value !== null && value !== false && value !== undefined) node.setAttribute(name, value === true ? '' : value);
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined) node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
}

/** A line of the last minute. A null is a moment of which nothing is known, so it leaves a gap. */
function chart(values, most, kind) {
  const space = 'http://www.w3.org/2000/svg';
  const svg = document.createElementNS(space, 'svg');
  svg.setAttribute('class', 'chart ' + (kind ?? ''));
  svg.setAttribute('viewBox', `0 0 ${SAMPLES - 1} 100`);
  svg.setAttribute('preserveAspectRatio', 'none');
  svg.setAttribute('aria-hidden', 'true');
  const path = (d, name) => {
    const node = document.createElementNS(space, 'path');
    if (name) node.setAttribute('class', name);
    node.setAttribute('d', d);
    svg.append(node);
  };
  const from = SAMPLES - values.length;
  for (let i = 0; i < values.length; i++) {
    const begin = i, points = [];
    for (; i < values.length && values[i] !== null; i++) points.push(`${from + i} ${98 - 94 * Math.min(1, most > 0 ? values[i] / most : 0)}`);
    if (points.length === 0) continue;
    if (points.length === 1) points.push(`${Math.max(0, from + begin - 0.5)} ${points[0].split(' ')[1]}`); // a point alone would not be seen
    else path(`M${from + begin} 100 L${points.join(' L')} L${from + i - 1} 100 Z`, 'area');
    path('M' + points.join(' L'));
  }
  return svg;
}

function most(values) {
  return Math.max(0, ...values.filter(each => each !== null));
}

/** "1 connection", "2 connections". */
function some(n, what) {
  return `${count(n)} ${what}${n === 1 ? '' : 's'}`;
}

/** Replaces what an element shows. What had the focus, by its key, has it again. */
function refill(node, children) {
  const key = document.activeElement?.dataset?.key;
  node.replaceChildren(...[children].flat(3).filter(Boolean));
  if (key !== undefined && document.activeElement?.dataset?.key !== key) {
    [...node.querySelectorAll('[data-key]')].find(each => each.dataset.key === key)?.focus({ preventScroll: true });
  }
}

// ---- Numbers ----

function count(n) {
  return n < 10000 ? String(Math.round(n)) : n < 1e6 ? (n / 1e3).toFixed(1) + ' k' : (n / 1e6).toFixed(1) + ' M';
}

function bytes(n) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let i = 0;
  while (n >= 1024 && i < 4) { n /= 1024; i++; }
  return (i === 0 ? Math.round(n) : n.toFixed(1)) + ' ' + units[i];
}

function time(nanos) {
  const n = Math.abs(nanos), sign = nanos < 0 ? '−' : '';
  if (n < 1e3) return sign + n + ' ns';
  if (n < 1e6) return sign + (n / 1e3).toFixed(n < 1e4 ? 1 : 0) + ' µs';
  if (n < 1e9) return sign + (n / 1e6).toFixed(n < 1e7 ? 1 : 0) + ' ms';
  const s = n / 1e9;
  if (s < 60) return sign + s.toFixed(s < 10 ? 1 : 0) + ' s';
  if (s < 3600) return sign + Math.floor(s / 60) + ' min ' + Math.floor(s % 60) + ' s';
  return sign + Math.floor(s / 3600) + ' h ' + Math.floor(s % 3600 / 60) + ' min';
}

// ---- Asking ----

async function ask(path, options) {
  let answer;
  try {
    answer = await fetch(path, { ...options, headers: { 'X-Millrace-Token': token } });
  } catch (e) {
    throw new Error('no answer: does the program still run?');
  }
  if (answer.status === 401) throw new Error('the token is missing or wrong: open the address that the program printed');
  if (!answer.ok) throw new Error((await answer.text()).slice(0, 200));
  return answer.json();
}

// ---- Overview ----

const history_ = new Map();

function remember(key, value) {
  const values = history_.get(key) ?? [];
  values.push(value);
  if (values.length > SAMPLES) values.shift();
  history_.set(key, values);
  return values;
}

let lastOverview = null;

/** What was added to a histogram since an earlier look: the median, the 99th percentile and the largest; null if nothing was. */
function added(now, before) {
  const earlier = new Map(before.buckets);
  const fresh = now.buckets.map(([bound, n]) => [bound, n - (earlier.get(bound) ?? 0)]).filter(([, n]) => n > 0);
  const all = fresh.reduce((sum, [, n]) => sum + n, 0);
  if (all === 0) return null;
  const at = share => {
    let seen = 0;
    for (const [bound, n] of fresh) if ((seen += n) >= all * share) return Math.min(bound, now.max);
  };
  return { p50: at(.5), p99: at(.99), max: at(1) };
}

/** Rates, out of two looks. The first look has none: nothing is known about the time before it. */
function rates(now) {
  const before = lastOverview;
  lastOverview = now;
  const seconds = before ? (now.nanos - before.nanos) / 1e9 : 0;
  const rate = (a, b) => seconds > 0 && b !== undefined ? Math.max(0, (a - b) / seconds) : null;
  for (const server of now.servers) {
    const was = before?.servers.find(each => each.name === server.name);
    server.rates = {};
    for (const key of ['received', 'sent', 'opened']) server.rates[key] = rate(server[key], was?.[key]);
    remember(`${server.name} bytes`, was ? server.rates.received + server.rates.sent : null);
  }
  for (const loop of now.loops) {
    const was = before?.loops.find(each => each.name === loop.name);
    loop.turnRate = rate(loop.turns, was?.turns);
    loop.use = seconds > 0 && was ? Math.min(1, Math.max(0, (loop.busy + loop.turnLasts - was.busy - was.turnLasts) / 1e9 / seconds)) : null;
    loop.lately = was ? added(loop.lag, was.lag) : null;
    remember(`${loop.name} use`, loop.use);
    remember(`${loop.name} turns`, loop.turnRate);
    remember(`${loop.name} lag`, loop.lately?.p99 ?? null);
  }
  return now;
}

function card(value, label) {
  return el('div', { class: 'card' }, el('b', {}, value), el('span', {}, label));
}

function fact(label, value) {
  return el('div', {}, el('span', {}, label + ' '), value);
}

/** A figure that is not known yet. */
function known(value, shown) {
  return value === null || value === undefined ? '–' : shown(value);
}

/** Lag is not known before the first alarm has come due. */
function lagFacts(histogram) {
  const shown = nanos => histogram.count === 0 ? '–' : time(nanos);
  return [fact('lag p50', shown(histogram.p50)), fact('lag p99', shown(histogram.p99)), fact('lag max', shown(histogram.max))];
}

function isHeld(loop) {
  return loop.turnLasts > 1e8;
}

/** What a server calls itself, without what stands beside it anyway. */
function place(server) {
  return server.what.replace(/, \d+ connections\b/, '');
}

function line(name, values, highest, kind, shown) {
  return [chart(values, highest, kind), el('div', { class: 'caption' }, el('span', {}, name), el('span', {}, shown))];
}

const overview = {
  title: 'Overview',
  ask: () => ask('api/overview').then(rates),
  show(data) {
    const out = [];
    for (const server of data.servers) {
      const both = history_.get(`${server.name} bytes`), highest = most(both);
      const perSecond = rate => known(rate, each => bytes(each) + '/s');
      const failures = [[server.failed, 'failed'], [server.turnedAway, 'turned away'], [server.acceptFailures, 'not accepted'], [server.handshakesFailed, 'failed handshakes']].filter(([n]) => n > 0);
      out.push(
        el('h2', {}, server.name, ' ', el('span', { class: 'soft' }, place(server))),
        el('div', { class: 'cards' },
          card(count(server.open), 'connections open' + (server.opening ? `, ${server.opening} opening` : '') + (server.ending ? `, ${server.ending} ending` : '')),
          card(perSecond(server.rates.received), 'received, ' + bytes(server.received) + ' in all'),
          card(perSecond(server.rates.sent), 'sent, ' + bytes(server.sent) + ' in all'),
          card(known(server.rates.opened, each => count(each) + '/s'), `opened, ${count(server.opened)} in all`),
          card(bytes(server.queued), server.full ? `to be sent, ${count(server.full)} above the mark` : 'to be sent'),
          card(count(failures.reduce((sum, [n]) => sum + n, 0)), failures.length ? failures.map(([n, what]) => `${count(n)} ${what}`).join(', ') : 'failures'),
          server.handshakes + server.handshakesFailed > 0 ? card(count(server.handshakes), 'TLS handshakes') : null),
        el('div', { class: 'panel' }, line('bytes in and out per second, last minute', both, highest, '', known(both.at(-1), bytes) + (highest > 0 ? `; at most ${bytes(highest)}` : ''))));
    }
    if (data.servers.length === 0) out.push(el('p', { class: 'soft' }, 'No server was added to this console.'));
    out.push(el('h2', {}, 'Loops'), el('div', { class: 'loops' }, data.loops.map(loop => {
      const turns = history_.get(`${loop.name} turns`), lags = history_.get(`${loop.name} lag`);
      const held = isHeld(loop);
      return el('div', { class: 'panel' + (held ? ' warn' : '') },
        el('h3', {}, loop.name, el('span', { class: 'tag ' + (held ? 'blocked' : loop.activity) }, held ? 'held for ' + time(loop.turnLasts) : loop.activity.replace('_', ' '))),
        loop.running && held ? el('div', { class: 'soft' }, 'by ', el('code', {}, plain(loop.running))) : null,
        line('utilisation', history_.get(`${loop.name} use`), 1, '', known(loop.use, each => (100 * each).toFixed(each < .1 ? 1 : 0) + ' %')),
        line('lag of alarms, p99', lags, most(lags), 'amber', known(loop.lately?.p99, time)),
        line('turns per second', turns, most(turns), 'green', known(loop.turnRate, count)),
        el('div', { class: 'facts' },
          fact('sources', count(loop.sources)), fact('alarms', count(loop.alarms)), fact('waiting tasks', count(loop.waiting)), fact('failures', count(loop.failures))),
        el('div', { class: 'soft since' }, 'Since the start'),
        el('div', { class: 'facts' }, lagFacts(loop.lag), fact('turn p99', time(loop.turn.p99)), fact('turn max', time(loop.turn.max))));
    })));
    const why = [...new Set(data.loops.map(loop => loop.why))];
    if (why.length) out.push(el('div', { class: 'panel' }, el('h3', {}, 'Backend'), why.map(text => el('pre', {}, text))));
    return out;
  },
};

// ---- Connections ----

const table = { sort: 'queued', descending: true, search: '', state: '', from: 0 };
const COLUMNS = [
  ['id', 'Id', each => each.id, 'number wide'],
  ['remote', 'Peer', each => each.remote],
  ['state', 'State', each => el('span', { class: 'tags' }, el('span', { class: 'tag ' + each.state }, each.state.replace('_', ' ')), each.full ? el('span', { class: 'tag full' }, 'full') : null, each.paused ? el('span', { class: 'tag paused' }, 'paused') : null)],
  ['queued', 'Queued', each => bytes(each.queued), 'number'],
  ['received', 'Received', each => bytes(each.received), 'number'],
  ['sent', 'Sent', each => bytes(each.sent), 'number wide'],
  ['idle', 'Idle', each => time(each.idle), 'number wide'],
  ['age', 'Age', each => time(each.age), 'number wide'],
  ['loop', 'Loop', each => each.loop, 'wide'],
  ['server', 'Server', each => each.server, 'wide'],
];

const connections = {
  title: 'Connections',
  period: 2000,
  ask() {
    const query = new URLSearchParams({ sort: table.sort, search: table.search, state: table.state, from: table.from });
    if (table.descending) query.set('descending', '');
    return ask('api/connections?' + query);
  },
  frame() {
    const search = el('input', { id: 'search', type: 'search', placeholder: 'Search by id, peer, handler, loop or server', 'aria-label': 'Search', oninput: event => { table.search = event.target.value; table.from = 0; now(); } });
    search.value = table.search;
    const states = ['', 'open', 'full', 'paused', 'opening', 'input_ended', 'closing', 'lingering', 'closed', 'tls'];
    const filter = el('select', { id: 'filter', 'aria-label': 'State', onchange: event => { table.state = event.target.value; table.from = 0; now(); } },
      states.map(each => el('option', { value: each }, each === '' ? 'all states' : each.replace('_', ' '))));
    filter.value = table.state;
    return [el('div', { class: 'bar' }, search, filter, el('span', { id: 'found', class: 'soft' }),
      el('button', { class: 'action', id: 'previous', 'aria-label': 'Previous page', onclick: () => { table.from = Math.max(0, table.from - 200); now(); } }, '‹'),
      el('button', { class: 'action', id: 'next', 'aria-label': 'Next page', onclick: () => { table.from += 200; now(); } }, '›')),
    el('div', { class: 'panel' }, el('table', {}, el('thead', {}), el('tbody', { id: 'rows' })), el('div', { id: 'none', class: 'soft' }))];
  },
  update(data) {
    const last = Math.min(data.found, data.from + data.page);
    document.getElementById('found').textContent = data.found === 0 ? `none of ${data.total}` : `${data.from + 1}–${last} of ${data.found}` + (data.found < data.total ? ` (${data.total} in all)` : '');
    document.getElementById('previous').disabled = data.from === 0;
    document.getElementById('next').disabled = last >= data.found;
    table.from = data.from;
    const columns = COLUMNS.filter(([key]) => key !== 'server' || data.servers > 1);
    refill(main.querySelector('thead'), el('tr', {}, columns.map(([key, label, , kind]) => el('th',
      { class: kind ?? null, 'aria-sort': table.sort === key ? (table.descending ? 'descending' : 'ascending') : null },
      el('button', { 'data-key': 'sort ' + key, onclick: () => { table.descending = table.sort === key ? !table.descending : true; table.sort = key; table.from = 0; now(); } }, label + (table.sort === key ? (table.descending ? ' ↓' : ' ↑') : ''))))));
    refill(document.getElementById('rows'), data.connections.map(each => el('tr',
      { class: 'row', tabindex: 0, 'data-key': `connection ${each.id} of ${each.server}`, onclick: () => open(each), onkeydown: event => { if (event.key === 'Enter') open(each); } },
      columns.map(([, , value, kind]) => el('td', { class: kind ?? null }, value(each))))));
    document.getElementById('none').textContent = data.found > 0 ? '' : data.total === 0 ? 'There are no connections.' : 'No connection matches.';
  },
};

let selected = null;

function open(connection) {
  selected = { server: connection.server, id: connection.id, samples: [], events: [] };
  dialog.replaceChildren();
  dialog.showModal();
  follow();
}

function note(text) {
  selected.events.unshift(new Date().toLocaleTimeString() + ' ' + text);
  selected.events.length = Math.min(selected.events.length, 8);
}

function pause(millis) {
  return new Promise(resolve => setTimeout(resolve, millis));
}

async function follow() {
  const mine = selected;
  while (dialog.open && selected === mine) {
    try {
      const data = await ask('api/connection?' + new URLSearchParams({ server: mine.server, id: mine.id }));
      if (selected !== mine) return;
      const was = mine.last, is = data.connection;
      if (isRead(dialog)) { await pause(200); continue; }
      if (was && !is) note('it has ended');
      if (was && is) {
        if (was.state !== is.state) note('state: ' + is.state);
        if (was.full !== is.full) note(is.full ? 'above the high-water mark' : 'below the high-water mark');
        if (was.paused !== is.paused) note(is.paused ? 'reading paused' : 'reading resumed');
        if (was.received !== is.received) note('received ' + bytes(is.received - was.received));
        if (was.sent !== is.sent) note('sent ' + bytes(is.sent - was.sent));
        mine.samples.push((is.received - was.received + is.sent - was.sent) / ((data.nanos - mine.at) / 1e9));
        if (mine.samples.length > SAMPLES) mine.samples.shift();
      }
      mine.at = data.nanos;
      mine.last = is;
      detail(is ?? was, !is);
      if (!is) return;
    } catch (e) {
      fail(e);
    }
    await pause(1000);
  }
}

function detail(each, gone) {
  if (!each) {
    refill(dialog, [el('p', {}, 'This connection has ended.'), el('button', { class: 'action', id: 'close-dialog', onclick: () => dialog.close() }, 'Back')]);
    return;
  }
  const pair = (label, value) => value === null || value === '' ? [] : [el('dt', {}, label), el('dd', {}, value)];
  const highest = most(selected.samples);
  refill(dialog, [
    el('h2', {}, `Connection ${each.id} `, el('span', { class: 'tag ' + (gone ? 'closed' : each.state) }, gone ? 'ended' : each.state.replace('_', ' '))),
    line('bytes per second, sampled once a second while this is open', selected.samples, highest, '', known(selected.samples.at(-1), value => bytes(value))),
    el('dl', {}, pair('Peer', each.remote), pair('Local', each.local), pair('Server', each.server), pair('Loop', each.loop),
      pair('Handler', el('code', {}, each.handler)),
      pair('Queue', `${bytes(each.queued)}; full above ${bytes(each.high)}, writable again below ${bytes(each.low)}`),
      pair('Reading', each.paused ? 'paused' : 'on'),
      pair('Received', `${bytes(each.received)}, last ${time(each.sinceReceived)} ago`),
      pair('Sent', `${bytes(each.sent)}, last ${time(each.sinceSent)} ago`),
      pair('Age', time(each.age)), pair('TLS', each.tls), pair('ALPN', each.alpn), pair('Server name', each.sni)),
    el('div', { class: 'soft' }, 'Seen while this is open:'),
    el('ul', { class: 'lines events' }, selected.events.length ? selected.events.map(line => el('li', {}, line)) : el('li', {}, 'nothing yet')),
    el('div', { class: 'bar' },
      el('button', { class: 'action', id: 'close-dialog', 'data-key': 'back', onclick: () => dialog.close() }, 'Back'),
      gone ? null : el('button', { class: 'action danger', id: 'close-connection', 'data-key': 'close', onclick: () => act(each, false) }, 'Close connection'),
      gone ? null : el('button', { class: 'action danger', id: 'abort-connection', 'data-key': 'abort', onclick: () => act(each, true) }, 'Abort'))]);
  if (!dialog.contains(document.activeElement) || document.activeElement === dialog) document.getElementById('close-dialog').focus();
}

async function act(each, abort) {
  try {
    const query = new URLSearchParams({ server: each.server, id: each.id });
    if (abort) query.set('abort', '');
    await ask('api/close?' + query, { method: 'POST' });
    note(abort ? 'you aborted it' : 'you closed it');
  } catch (e) {
    fail(e);
  }
}

// ---- Stalls ----

/** A descriptor is used once nearly always, which is not worth the words. */
function plain(text) {
  return text.replaceAll(' (1 in use)', '');
}

/** A line of a stack without the module, which is as long as the rest. */
function frame(text) {
  return text.replace(/^(app\/\/|([a-z][\w.]*(@[^/]*)?\/))/, '');
}

const stalls = {
  title: 'Stalls',
  ask: () => ask('api/stalls'),
  show(data) {
    const opened = new Set([...main.querySelectorAll('details[open]')].map(each => each.dataset.place));
    const tallies = (key, why) => {
      const all = data.loops.map(loop => loop[key]), times = all.reduce((sum, each) => sum + each.count, 0);
      return card(count(times), `${key}: ${why}` + (times ? `; at most ${time(Math.max(...all.map(each => each.longest)))}` : ''));
    };
    const blocked = data.loops.flatMap(loop => loop.blocked.map(each => ({ ...each, loop: loop.name }))).sort((a, b) => a.since - b.since);
    const times = data.loops.reduce((sum, loop) => sum + loop.blockedCount, 0);
    return [
      el('div', { class: 'cards' },
        card(count(times), 'blocked: a handler, task or alarm held its loop. Fix these'),
        tallies('busy', 'a turn had many items'),
        tallies('starved', 'no processor was free'),
        tallies('paused', 'the whole process was stopped')),
      blocked.length ? null : el('p', { class: 'good' }, 'Nothing has blocked a loop.'),
      blocked.map(each => {
        const key = each.loop + ' ' + each.place;
        const details = el('details', { 'data-place': key }, el('summary', { 'data-key': 'stack ' + key }, 'Stack'), el('pre', {}, each.stack.map(text => el('div', { class: text === each.line ? 'mine' : null }, 'at ' + frame(text)))));
        details.open = opened.has(key);
        return el('div', { class: 'panel' + (each.ongoing ? ' warn' : '') },
          el('h3', { class: 'place' }, el('code', {}, each.place), each.ongoing ? el('span', { class: 'tag blocked' }, 'blocks now') : null),
          each.line ? el('div', {}, 'at ', el('code', {}, frame(each.line))) : null,
          el('div', { class: 'soft' }, `${count(each.tally.count)} × on ${each.loop}; longest ${time(each.tally.longest)}, ${time(each.tally.total)} together; ` + (each.ongoing ? 'still going on' : `last ${time(each.since)} ago`)),
          el('div', { class: 'soft' }, 'the last time by ' + plain(each.handler)),
          details);
      }),
    ];
  },
};

// ---- Timers and tasks ----

function depths(of) {
  return Object.entries(of).map(([priority, depth]) => fact(priority.toLowerCase(), count(depth)));
}

const timers = {
  title: 'Timers & tasks',
  ask: () => ask('api/timers'),
  show: data => [
    data.loops.map(loop => el('div', { class: 'panel' },
      el('h3', {}, loop.name),
      el('div', { class: 'facts' }, fact('alarms pending', count(loop.pending)), fact('came due', count(loop.due)), lagFacts(loop.lag)),
      el('div', { class: 'soft since' }, 'Waiting tasks, by priority'),
      el('div', { class: 'facts' }, depths(loop.depths)),
      loop.next.length === 0 ? null : el('table', { class: 'alarms' }, el('thead', {}, el('tr', {}, ['Next alarms', 'In', 'Priority'].map((each, i) => el('th', { class: i ? 'narrow' : null }, each)))),
        el('tbody', {}, loop.next.map(alarm => el('tr', {}, el('td', {}, el('code', {}, alarm.what.replace(/^alarm /, ''))), el('td', {}, alarm.in < 0 ? 'overdue ' + time(-alarm.in) : time(alarm.in)), el('td', {}, alarm.priority.toLowerCase()))))))),
    data.pools.map(pool => el('div', { class: 'panel' }, el('h3', {}, 'Pool ' + pool.name),
      el('div', { class: 'facts' }, fact('running', pool.active), fact('submitted', count(pool.submitted)), fact('completed', count(pool.completed)), fact('failed', count(pool.failed)), fact('rejected', count(pool.rejected)), fact('time of tasks', time(pool.time))),
      el('div', { class: 'soft since' }, 'Waiting tasks, by priority'), el('div', { class: 'facts' }, depths(pool.depths)))),
    data.objects.map(pool => el('div', { class: 'panel' }, el('h3', {}, 'Objects ' + pool.name),
      el('div', { class: 'facts' }, fact('in use', count(pool.inUse)), fact('idle', count(pool.idle)), fact('created', count(pool.created)), fact('acquired', count(pool.acquired))))),
    data.sets.map(set => el('div', { class: 'panel' }, el('h3', {}, 'Set ' + set.name), el('div', { class: 'facts' }, fact('holds', count(set.size))))),
    data.loops.length ? null : el('p', { class: 'soft' }, 'There are no loops.'),
  ],
};

// ---- Shutdown and sources ----

const shutdown = {
  title: 'Shutdown',
  ask: () => ask('api/shutdown'),
  show: data => data.servers.map(server => {
    const all = server.count >= 1000 ? '1,000 or more connections' : some(server.count, 'connection');
    const waits = server.isOpen ? 'A shutdown would wait for ' : server.count ? 'The shutdown waits for ' : 'It waits for ';
    return el('div', { class: 'panel' + (server.held.length ? ' warn' : '') },
      el('h3', {}, server.name, ' ', el('span', { class: 'soft' }, place(server))),
      server.held.length ? [el('p', {}, server.held.length === 1 ? 'A loop is held up, and nothing on it can end:' : 'Loops are held up, and nothing on them can end:'), el('ul', { class: 'lines' }, server.held.map(line => el('li', {}, el('b', {}, plain(line)))))] : null,
      server.count === 0 ? el('p', { class: 'good' }, waits + 'nothing.') : el('p', {}, waits + all + ':'),
      el('ul', { class: 'lines' }, server.remaining.map(line => el('li', {}, line))),
      server.count > server.remaining.length ? el('p', { class: 'soft' }, `… and ${server.count - server.remaining.length} more`) : null);
  }),
};

let sourceSearch = '';

const sources = {
  title: 'Sources',
  period: 2000,
  ask: () => ask('api/sources?' + new URLSearchParams({ search: sourceSearch })),
  frame() {
    const search = el('input', { id: 'search', type: 'search', placeholder: 'Search sources', 'aria-label': 'Search', oninput: event => { sourceSearch = event.target.value; now(); } });
    search.value = sourceSearch;
    return [el('div', { class: 'bar' }, search), el('div', { id: 'sources' })];
  },
  update(data) {
    refill(document.getElementById('sources'), data.loops.map(loop => el('div', { class: 'panel' },
      el('h3', {}, loop.name, ' ', el('span', { class: 'soft' }, `${some(loop.count, 'source')} on ${loop.backend}`)),
      sourceSearch ? el('div', { class: 'soft' }, loop.sources.length === 0 ? 'none matches' : `${loop.sources.length}${loop.sources.length === loop.most ? ' or more' : ''} of them ${loop.sources.length === 1 ? 'matches' : 'match'}`)
        : loop.sources.length < loop.count ? el('div', { class: 'soft' }, `the first ${loop.sources.length} of them`) : null,
      el('ul', { class: 'lines' }, loop.sources.map(line => el('li', {}, el('code', {}, plain(line))))))));
  },
};

// ---- The page ----

const VIEWS = { overview, connections, stalls, timers, shutdown, sources };
let view = 'overview', paused = false, timer = 0, asked = 0;

function fail(error) {
  state.textContent = error.message;
  state.className = 'bad';
  main.classList.add('stale');
}

function choose(name) {
  view = name;
  main.replaceChildren(...(VIEWS[name].frame?.() ?? []));
  refill(document.getElementById('nav'), Object.entries(VIEWS).map(([key, each]) =>
    el('button', { id: 'view-' + key, 'data-key': 'view ' + key, 'aria-current': key === name ? 'page' : null, onclick: () => choose(key) }, each.title)));
  document.getElementById('view-' + name).scrollIntoView({ block: 'nearest', inline: 'nearest' });
  now();
}

let pressed = false;
for (const [event, down] of [['pointerdown', true], ['pointerup', false], ['pointercancel', false]]) document.addEventListener(event, () => { pressed = down; });

/** Whether somebody selects text in an element or presses a button, so that nothing may be replaced below them. */
function isRead(node) {
  const selection = document.getSelection();
  return pressed || (selection && !selection.isCollapsed && node.contains(selection.anchorNode));
}

function setPaused(on) {
  paused = on;
  pauseButton.textContent = on ? 'Resume' : 'Pause';
  now();
}

pauseButton.addEventListener('click', () => setPaused(!paused));

async function now() {
  clearTimeout(timer);
  const mine = ++asked, shown = VIEWS[view];
  try {
    const data = await shown.ask();
    if (mine !== asked) return;
    if (!isRead(main)) {
      if (shown.update) shown.update(data);
      else refill(main, shown.show(data));
    }
    main.classList.remove('stale');
    state.textContent = paused ? 'paused' : isRead(main) ? 'waits while text is selected' : 'live';
    state.className = '';
  } catch (error) {
    if (mine !== asked) return;
    fail(error);
  }
  // A page that nobody sees asks for nothing.
  if (!paused && !document.hidden) timer = setTimeout(now, shown.period ?? 1000);
}

document.addEventListener('visibilitychange', () => { if (!document.hidden && !paused) now(); });
document.addEventListener('keydown', event => {
  if (event.target.matches('input, select') || event.ctrlKey || event.metaKey || event.altKey || dialog.open) return;
  const names = Object.keys(VIEWS);
  if (event.key >= '1' && event.key <= String(names.length)) choose(names[event.key - 1]);
  else if (event.key === '/' && document.getElementById('search')) { event.preventDefault(); document.getElementById('search').focus(); }
  else if (event.key === ' ' && !event.target.matches('button, summary, tr')) {
    event.preventDefault();
    setPaused(!paused);
  }
});

choose('overview');
