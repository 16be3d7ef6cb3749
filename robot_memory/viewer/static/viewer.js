// An open page is told of news by Server-Sent Events and renews what is marked data-live.
// Without this script every page reads the same; it is then renewed by loading it.

const LEAST_MS = 250; // between two renewals, however much is kept

const live = () => document.querySelector('[data-live]');
let isRenewing = false;
let isStale = false;

async function renew() {
  if (isRenewing) {
    isStale = true;
    return;
  }
  isRenewing = true;
  do {
    isStale = false;
    const started = performance.now();
    await load();
    const rest = LEAST_MS - (performance.now() - started);
    if (rest > 0 && isStale) await new Promise((resolve) => setTimeout(resolve, rest));
  } while (isStale);
  isRenewing = false;
}

async function load() {
  const answer = await fetch(location.href, { headers: { Accept: 'text/html' } }).catch(() => null);
  if (answer === null) return;
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  if (answer.status === 410) {
    document.querySelector('main').replaceChildren(...page.querySelector('main').childNodes);
    return;
  }
  const fresh = page.querySelector('[data-live]');
  if (!answer.ok || !fresh || !live()) return;
  const known = new Set([...live().querySelectorAll('a.content')].map((link) => link.href));
  for (const link of fresh.querySelectorAll('a.content')) {
    if (!known.has(link.href)) link.closest('li')?.classList.add('new');
  }
  const focused = document.activeElement?.getAttribute?.('href');
  for (const one of live().querySelectorAll('details[id][open]')) {
    fresh.querySelector(`#${CSS.escape(one.id)}`)?.setAttribute('open', '');
  }
  for (const one of live().querySelectorAll('[data-keep]')) {
    const other = fresh.querySelector(`#${CSS.escape(one.id)}`);
    if (other?.dataset.keep === one.dataset.keep) other.replaceWith(one);
  }
  live().replaceWith(fresh);
  document.dispatchEvent(new Event('renewed'));
  if (focused) live().querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus();
}

function concerns(news) {
  const memory = live().dataset.memory;
  return memory === undefined || news.changed.includes(Number(memory));
}

// What is not in the store, as the counts of taps, is asked for at intervals while it is seen.
const every = Number(live()?.dataset.renew);
if (every) {
  setInterval(() => document.visibilityState === 'visible' && renew(), every);
}

// An older page of the timeline stays as it is; only the newest is renewed.
if (live() && !every && !new URLSearchParams(location.search).has('cursor')) {
  const stream = new EventSource('/news');
  stream.addEventListener('news', (event) => {
    if (concerns(JSON.parse(event.data))) renew();
  });
  // After a lost connection, news may have come that no stream tells.
  let wasOpen = false;
  stream.addEventListener('open', (event) => {
    if (event instanceof MessageEvent) return; // the stream's own first line, of the same name
    if (wasOpen) renew();
    wasOpen = true;
  });
  addEventListener('pagehide', () => stream.close());
}
