// Pictures that were taken one after the other can be played, in the time in which they were taken.
// Without this script they are a strip. Nothing moves by itself, and who prefers less motion goes
// through them by hand.

const FASTEST_MS = 40;
const SLOWEST_MS = 1000;
const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches;

function make(tag, values) {
  return Object.assign(document.createElement(tag), values);
}

function prepare(film) {
  const frames = [...film.querySelectorAll('img[data-at]')];
  if (frames.length < 2 || film.querySelector('.player')) return;
  const times = frames.map((frame) => Number(frame.dataset.at));
  const stage = make('img', { className: 'stage' });
  const slider = make('input', { type: 'range', min: 0, max: frames.length - 1, value: 0 });
  slider.setAttribute('aria-label', film.dataset.slider);
  const told = make('output', { className: 'at' });
  const button = make('button', { type: 'button', textContent: film.dataset.play });
  let timer = 0;

  function show(number) {
    slider.value = number;
    stage.src = frames[number].src;
    stage.alt = frames[number].alt;
    told.textContent = `${number + 1}/${frames.length}, ${(times[number] / 1000).toFixed(2)} s`;
    slider.setAttribute('aria-valuetext', told.textContent);
  }

  function stop() {
    clearTimeout(timer);
    timer = 0;
    button.textContent = film.dataset.play;
  }

  function advance() {
    const number = Number(slider.value);
    if (number === frames.length - 1 || !film.isConnected) {
      stop();
      return;
    }
    const wait = Math.min(Math.max(times[number + 1] - times[number], FASTEST_MS), SLOWEST_MS);
    timer = setTimeout(() => {
      show(number + 1);
      advance();
    }, wait);
  }

  button.addEventListener('click', () => {
    if (timer) {
      stop();
      return;
    }
    if (Number(slider.value) === frames.length - 1) show(0);
    button.textContent = film.dataset.stop;
    advance();
  });
  slider.addEventListener('input', () => {
    stop();
    show(Number(slider.value));
  });
  const player = make('div', { className: 'player' });
  const controls = make('div', { className: 'actions' });
  controls.append(...(isCalm ? [] : [button]), slider, told);
  player.append(stage, controls);
  for (const frame of frames) frame.loading = 'eager';
  film.prepend(player);
  show(0);
}

function prepareAll() {
  document.querySelectorAll('[data-film]').forEach(prepare);
}

prepareAll();
document.addEventListener('renewed', prepareAll);
