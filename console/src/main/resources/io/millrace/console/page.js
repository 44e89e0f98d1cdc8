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
const SAMPLES = 120;

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

function chart(values, most, kind) {
  const space = 'http://www.w3.org/2000/svg';
  const svg = document.createElementNS(space, 'svg');
  svg.setAttribute('class', 'chart ' + (kind ?? ''));
  const width = Math.max(30, values.length) - 1;
  svg.setAttribute('viewBox', `0 0 ${width} 100`);
  svg.setAttribute('preserveAspectRatio', 'none');
  svg.setAttribute('aria-hidden', 'true');
  const from = width + 1 - values.length;
  const points = values.map((value, i) => `${from + i} ${98 - 94 * Math.min(1, most > 0 ? value / most : 0)}`);
  if (points.length > 1) {
    const area = document.createElementNS(space, 'path');
    area.setAttribute('class', 'area');
    area.setAttribute('d', `M${from} 100 L${points.join(' L')} L${width} 100 Z`);
    const line = document.createElementNS(space, 'path');
    line.setAttribute('d', 'M' + points.join(' L'));
    svg.append(area, line);
  }
  return svg;
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
  const answer = await fetch(path, { ...options, headers: { 'X-Millrace-Token': token } });
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

function rates(now) {
  const before = lastOverview;
  lastOverview = now;
  const seconds = before ? (now.nanos - before.nanos) / 1e9 : 0;
  const rate = (a, b) => seconds > 0 && b !== undefined ? Math.max(0, (a - b) / seconds) : 0;
  for (const server of now.servers) {
    const was = before?.servers.find(each => each.name === server.name);
    server.rates = {};
    for (const key of ['received', 'sent', 'opened']) {
      server.rates[key] = rate(server[key], was?.[key]);
      remember(`${server.name} ${key}`, server.rates[key]);
    }
    remember(`${server.name} open`, server.open);
  }
  for (const loop of now.loops) {
    const was = before?.loops.find(each => each.name === loop.name);
    loop.turnRate = rate(loop.turns, was?.turns);
    loop.use = seconds > 0 && was ? Math.min(1, Math.max(0, (loop.busy + loop.turnLasts - was.busy - was.turnLasts) / 1e9 / seconds)) : 0;
    remember(`${loop.name} use`, loop.use);
    remember(`${loop.name} turns`, loop.turnRate);
    remember(`${loop.name} lag`, loop.lag.max > 0 ? loop.lag.p99 : 0);
  }
  return now;
}

function card(value, label) {
  return el('div', { class: 'card' }, el('b', {}, value), el('span', {}, label));
}

function fact(label, value) {
  return el('div', {}, el('span', {}, label + ' '), value);
}

function lag(nanos, loop) {
  return loop.lag.count === 0 ? '–' : time(nanos); // no alarm has come due yet
}

function isHeld(loop) {
  return loop.turnLasts > 1e8;
}

const overview = {
  title: 'Overview',
  ask: () => ask('api/overview').then(rates),
  show(data) {
    const out = [];
    for (const server of data.servers) {
      const bits = history_.get(`${server.name} received`).map((n, i) => n + history_.get(`${server.name} sent`)[i]);
      out.push(
        el('h2', {}, server.what),
        el('div', { class: 'cards' },
          card(count(server.open), 'connections open' + (server.opening ? `, ${server.opening} opening` : '')),
          card(bytes(server.rates.received) + '/s', 'received, ' + bytes(server.received) + ' in all'),
          card(bytes(server.rates.sent) + '/s', 'sent, ' + bytes(server.sent) + ' in all'),
          card(count(server.rates.opened) + '/s', `accepted, ${count(server.opened)} in all`),
          card(bytes(server.queued), `wait to be sent; ${count(server.full)} full`),
          card(count(server.failed + server.turnedAway + server.acceptFailures), `failed ${server.failed}, turned away ${server.turnedAway}`)),
        el('div', { class: 'panel' }, chart(bits, Math.max(1, ...bits)),
          el('div', { class: 'caption' }, el('span', {}, 'bytes in and out per second'), el('span', {}, 'most ' + bytes(Math.max(0, ...bits)) + '/s'))));
    }
    out.push(el('h2', {}, 'Loops'), el('div', { class: 'loops' }, data.loops.map(loop => {
      const use = history_.get(`${loop.name} use`), turns = history_.get(`${loop.name} turns`);
      const held = isHeld(loop);
      return el('div', { class: 'panel' + (held ? ' warn' : '') },
        el('h2', {}, loop.name, el('span', { class: 'tag ' + (held ? 'blocked' : loop.activity) }, held ? 'held for ' + time(loop.turnLasts) : loop.activity.replace('_', ' '))),
        chart(use, 1),
        el('div', { class: 'caption' }, el('span', {}, 'utilisation'), el('span', {}, (100 * loop.use).toFixed(loop.use < .1 ? 1 : 0) + ' %')),
        chart(turns, Math.max(1, ...turns), 'amber'),
        el('div', { class: 'caption' }, el('span', {}, 'turns per second'), el('span', {}, count(loop.turnRate))),
        el('div', { class: 'facts' },
          fact('lag p50', lag(loop.lag.p50, loop)), fact('lag p99', lag(loop.lag.p99, loop)), fact('lag max', lag(loop.lag.max, loop)),
          fact('turn p99', time(loop.turn.p99)), fact('sources', count(loop.sources)), fact('alarms', count(loop.alarms)),
          fact('waiting', count(loop.waiting)), fact('failures', count(loop.failures)), fact('backend', loop.backend)),
        loop.running && held ? el('div', { class: 'soft' }, 'in ', el('code', {}, loop.running)) : null);
    })));
    const why = [...new Set(data.loops.map(loop => loop.why))];
    out.push(el('div', { class: 'panel' }, el('h2', {}, 'Backend'), why.map(text => el('pre', {}, text))));
    return out;
  },
};

// ---- Connections ----

const table = { sort: 'queued', descending: true, search: '', state: '', from: 0 };
const COLUMNS = [
  ['id', 'Id', each => each.id, 'number'],
  ['remote', 'Peer', each => each.remote],
  ['state', 'State', each => el('span', {}, el('span', { class: 'tag ' + each.state }, each.state.replace('_', ' ')), each.full ? el('span', { class: 'tag full' }, 'full') : null, each.paused ? el('span', { class: 'tag paused' }, 'paused') : null)],
  ['queued', 'Queued', each => bytes(each.queued), 'number'],
  ['received', 'Received', each => bytes(each.received), 'number'],
  ['sent', 'Sent', each => bytes(each.sent), 'number'],
  ['idle', 'Idle', each => time(each.idle), 'number'],
  ['age', 'Age', each => time(each.age), 'number wide'],
  ['loop', 'Loop', each => each.loop, 'wide'],
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
    const search = el('input', { id: 'search', type: 'search', placeholder: 'Search by id, peer, handler or loop', 'aria-label': 'Search', oninput: event => { table.search = event.target.value; table.from = 0; now(); } });
    search.value = table.search;
    const states = ['', 'open', 'full', 'paused', 'opening', 'input_ended', 'closing', 'lingering', 'closed', 'tls'];
    const filter = el('select', { id: 'filter', 'aria-label': 'State', onchange: event => { table.state = event.target.value; table.from = 0; now(); } },
      states.map(each => el('option', { value: each }, each === '' ? 'all states' : each.replace('_', ' '))));
    filter.value = table.state;
    return [el('div', { class: 'bar' }, search, filter, el('span', { id: 'found', class: 'soft' }),
      el('button', { class: 'action', id: 'previous', onclick: () => { table.from = Math.max(0, table.from - 200); now(); } }, '‹'),
      el('button', { class: 'action', id: 'next', onclick: () => { table.from += 200; now(); } }, '›')),
    el('div', { class: 'panel' }, el('table', {}, el('thead', {}), el('tbody', { id: 'rows' })))];
  },
  update(data) {
    const last = Math.min(data.found, data.from + data.page);
    document.getElementById('found').textContent = data.found === 0 ? `none of ${data.total}` : `${data.from + 1}–${last} of ${data.found}` + (data.found < data.total ? ` (${data.total} in all)` : '');
    document.getElementById('previous').disabled = data.from === 0;
    document.getElementById('next').disabled = last >= data.found;
    table.from = data.from;
    main.querySelector('thead').replaceChildren(el('tr', {}, COLUMNS.map(([key, label, , kind]) => el('th',
      { class: kind ?? null, 'aria-sort': table.sort === key ? (table.descending ? 'descending' : 'ascending') : null },
      el('button', { onclick: () => { table.descending = table.sort === key ? !table.descending : true; table.sort = key; table.from = 0; now(); } }, label + (table.sort === key ? (table.descending ? ' ↓' : ' ↑') : ''))))));
    const focused = document.activeElement?.dataset?.id;
    document.getElementById('rows').replaceChildren(...data.connections.map(each => {
      const row = el('tr', { class: 'row', tabindex: 0, onclick: () => open(each), onkeydown: event => { if (event.key === 'Enter') open(each); } },
        COLUMNS.map(([, , value, kind]) => el('td', { class: kind ?? null }, value(each))));
      row.dataset.id = each.server + ' ' + each.id;
      return row;
    }));
    if (focused) [...main.querySelectorAll('tr.row')].find(row => row.dataset.id === focused)?.focus();
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

async function follow() {
  const mine = selected;
  while (dialog.open && selected === mine) {
    try {
      const data = await ask('api/connection?' + new URLSearchParams({ server: mine.server, id: mine.id }));
      if (selected !== mine) return;
      const was = mine.last, is = data.connection;
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
    await new Promise(resolve => setTimeout(resolve, 1000));
  }
}

function detail(each, gone) {
  if (!each) {
    dialog.replaceChildren(el('p', {}, 'This connection has ended.'), el('button', { class: 'action', onclick: () => dialog.close() }, 'Close this'));
    return;
  }
  const pair = (label, value) => value === null || value === '' ? [] : [el('dt', {}, label), el('dd', {}, value)];
  const most = Math.max(1, ...selected.samples);
  const keep = document.activeElement?.id;
  dialog.replaceChildren(
    el('h2', {}, `Connection ${each.id} `, el('span', { class: 'tag ' + (gone ? 'closed' : each.state) }, gone ? 'ended' : each.state.replace('_', ' '))),
    chart(selected.samples, most),
    el('div', { class: 'caption' }, el('span', {}, 'bytes per second while this is open (sampled once a second)'), el('span', {}, 'most ' + bytes(most) + '/s')),
    el('dl', {}, pair('Peer', each.remote), pair('Local', each.local), pair('Server', each.server), pair('Loop', each.loop),
      pair('Handler', el('code', {}, each.handler)),
      pair('Queue', `${bytes(each.queued)} of ${bytes(each.high)} (low ${bytes(each.low)})` + (each.full ? ', full' : '')),
      pair('Reading', each.paused ? 'paused' : 'on'),
      pair('Received', `${bytes(each.received)}, last ${time(each.sinceReceived)} ago`),
      pair('Sent', `${bytes(each.sent)}, last ${time(each.sinceSent)} ago`),
      pair('Age', time(each.age)), pair('TLS', each.tls), pair('ALPN', each.alpn), pair('Server name', each.sni)),
    el('div', { class: 'soft' }, selected.events.length ? 'Seen while this is open:' : ''),
    el('ul', { class: 'lines' }, selected.events.map(line => el('li', {}, line))),
    el('div', { class: 'bar' },
      gone ? null : el('button', { class: 'action danger', id: 'close-connection', onclick: () => act(each, false) }, 'Close connection'),
      gone ? null : el('button', { class: 'action danger', id: 'abort-connection', onclick: () => act(each, true) }, 'Abort'),
      el('button', { class: 'action', id: 'close-dialog', onclick: () => dialog.close() }, 'Back')));
  if (keep) document.getElementById(keep)?.focus();
}

async function act(each, abort) {
  try {
    const query = new URLSearchParams({ server: each.server, id: each.id });
    if (abort) query.set('abort', '');
    await ask('api/close?' + query, { method: 'POST' });
    note(abort ? 'abort asked for' : 'close asked for');
  } catch (e) {
    fail(e);
  }
}

// ---- Stalls ----

const stalls = {
  title: 'Stalls',
  ask: () => ask('api/stalls'),
  show(data) {
    const opened = new Set([...main.querySelectorAll('details[open]')].map(each => each.dataset.place));
    const tallies = (label, key, why) => {
      const all = data.loops.map(loop => loop[key]);
      return card(count(all.reduce((sum, each) => sum + each.count, 0)), label + (all.some(each => each.count) ? `, at most ${time(Math.max(...all.map(each => each.longest)))}` : '') + ': ' + why);
    };
    const blocked = data.loops.flatMap(loop => loop.blocked.map(each => ({ ...each, loop: loop.name })));
    const times = blocked.reduce((sum, each) => sum + each.tally.count, 0);
    return [
      el('div', { class: 'cards' },
        card(count(times), 'blocked: one handler held a loop, which is to be fixed'),
        tallies('busy', 'busy', 'turns of many items'),
        tallies('starved', 'starved', 'no processor was free'),
        tallies('paused', 'paused', 'the whole process was stopped')),
      blocked.length ? null : el('p', { class: 'good' }, 'No handler has blocked a loop.'),
      blocked.map(each => {
        const details = el('details', {}, el('summary', {}, 'Stack'), el('pre', {}, each.stack.map(frame => el('div', { class: frame === each.line ? 'mine' : null }, 'at ' + frame))));
        details.dataset.place = each.loop + each.place;
        details.open = opened.has(details.dataset.place);
        return el('div', { class: 'panel' + (each.ongoing ? ' warn' : '') },
          el('h2', {}, el('code', {}, each.place), ' ', each.ongoing ? el('span', { class: 'tag blocked' }, 'blocks now') : null),
          each.line ? el('div', {}, 'at ', el('code', {}, each.line)) : null,
          el('div', { class: 'soft' }, `${each.tally.count} × on ${each.loop}, longest ${time(each.tally.longest)}, in all ${time(each.tally.total)}, last ${time(each.since)} ago`),
          el('div', { class: 'soft' }, 'the last time by ' + each.handler),
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
      el('h2', {}, loop.name),
      el('div', { class: 'facts' }, fact('alarms pending', count(loop.pending)), fact('came due', count(loop.due)), fact('lag p50', time(loop.lag.p50)), fact('p99', time(loop.lag.p99)), fact('max', time(loop.lag.max))),
      el('div', { class: 'soft' }, 'Tasks that wait, by priority'),
      el('div', { class: 'facts' }, depths(loop.depths)),
      loop.next.length === 0 ? null : el('table', {}, el('thead', {}, el('tr', {}, ['In', 'Alarm', 'Priority'].map(each => el('th', {}, each)))),
        el('tbody', {}, loop.next.map(alarm => el('tr', {}, el('td', {}, alarm.in < 0 ? 'overdue ' + time(-alarm.in) : time(alarm.in)), el('td', {}, el('code', {}, alarm.what)), el('td', {}, alarm.priority.toLowerCase()))))))),
    data.pools.map(pool => el('div', { class: 'panel' }, el('h2', {}, 'Pool ' + pool.name),
      el('div', { class: 'facts' }, fact('running', pool.active), fact('submitted', count(pool.submitted)), fact('completed', count(pool.completed)), fact('failed', count(pool.failed)), fact('rejected', count(pool.rejected)), fact('time', time(pool.time))),
      el('div', { class: 'soft' }, 'Tasks that wait, by priority'), el('div', { class: 'facts' }, depths(pool.depths)))),
    data.objects.map(pool => el('div', { class: 'panel' }, el('h2', {}, 'Objects ' + pool.name),
      el('div', { class: 'facts' }, fact('in use', count(pool.inUse)), fact('idle', count(pool.idle)), fact('created', count(pool.created)), fact('acquired', count(pool.acquired))))),
    data.sets.map(set => el('div', { class: 'panel' }, el('h2', {}, 'Set ' + set.name), el('div', { class: 'facts' }, fact('holds', count(set.size))))),
  ],
};

// ---- Shutdown and sources ----

const shutdown = {
  title: 'Shutdown',
  ask: () => ask('api/shutdown'),
  show: data => data.servers.map(server => el('div', { class: 'panel' + (server.held.length ? ' warn' : '') },
    el('h2', {}, server.what),
    server.count === 0 ? el('p', { class: 'good' }, 'A shutdown would wait for nothing.')
      : el('p', {}, (/clos(ing|ed)$/.test(server.what) ? 'The shutdown waits for ' : 'A shutdown would wait for ') + (server.count >= 1000 ? '1,000 or more' : server.count) + (server.count === 1 ? ' connection or conversation:' : ' connections or conversations:')),
    server.held.length ? el('ul', { class: 'lines' }, server.held.map(line => el('li', {}, el('b', {}, line)))) : null,
    el('ul', { class: 'lines' }, server.remaining.map(line => el('li', {}, line))),
    server.count > server.remaining.length ? el('p', { class: 'soft' }, `… and ${server.count - server.remaining.length} more`) : null)),
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
    document.getElementById('sources').replaceChildren(...data.loops.map(loop => el('div', { class: 'panel' },
      el('h2', {}, `${loop.name}: ${count(loop.count)} sources on ${loop.backend}`),
      loop.sources.length < loop.count ? el('div', { class: 'soft' }, `${loop.sources.length} are shown`) : null,
      el('ul', { class: 'lines' }, loop.sources.map(line => el('li', {}, el('code', {}, line)))))));
  },
};

// ---- The page ----

const VIEWS = { overview, connections, stalls, timers, shutdown, sources };
let view = 'overview', paused = false, timer = 0, asked = 0;

function fail(error) {
  state.textContent = error.message;
  state.className = 'bad';
}

function choose(name) {
  view = name;
  main.replaceChildren(...(VIEWS[name].frame?.() ?? []));
  document.getElementById('nav').replaceChildren(...Object.entries(VIEWS).map(([key, each]) =>
    el('button', { id: 'view-' + key, 'aria-current': key === name ? 'page' : null, onclick: () => choose(key) }, each.title)));
  now();
}

async function now() {
  clearTimeout(timer);
  const mine = ++asked, shown = VIEWS[view];
  try {
    const data = await shown.ask();
    if (mine !== asked) return;
    if (shown.update) shown.update(data);
    else main.replaceChildren(...[shown.show(data)].flat(3).filter(Boolean));
    state.textContent = paused ? 'paused' : 'live';
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
    paused = !paused;
    now();
  }
});

choose('overview');
