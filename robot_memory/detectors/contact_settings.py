"""Settings of the contact detector, and what it takes for a contact."""

from __future__ import annotations

from dataclasses import dataclass

from robot_memory.core.errors import InvalidArgument
from robot_memory.core.fields import arg, validate


@dataclass(frozen=True)
class ContactSettings:
    """
    Settings of the contact detector.

    A contact starts when force or torque exceeds its onset threshold above the baseline: `onset_n`
    (`onset_nm`), or 8 times the noise of the sensor where that is more; the metadata of each event
    have the threshold that held. It ends when both have stayed below `release_ratio` of the
    threshold for `quiet_s`, or when both have stayed steadily below half of their mean for one
    second, because the baseline may have shifted during the contact.

    The baseline (gravity, bias, drift) follows changes of up to 0.4 N/s. It waits while a force
    is above half of the release threshold, so that a weak contact is not taken for rest, and goes
    back to before the force began to rise. A change slower than 1 N/s is a contact once it is
    taken back; one that stays for 5 s is the new baseline. A steady force is the new baseline
    after `max_duration_s`, right after a contact or a silence within seconds. The baseline before
    is remembered, and restored when the force returns to it.

    `peak_force` is the peak without noise: the greatest mean over as many readings as can be
    averaged without cutting it; `raw_peak_force` is the greatest reading.

    The weight of the tool is learned from eight or more poses at rest. What it explains from its
    beginning to its end is no contact but of kind turn, with the least confidence, and a new rest
    once it is still; so is the turning of one joint that joint states show, learned or not.

    Limitations of force-only detection: until then a tool that is turned quickly is a contact, as
    is one that is turned by less than some 0.8 rad, with a changing load, or shaken: weight and
    inertia are forces. A push during a turn is one contact with it. A push that grows by less than
    0.4 N/s is absorbed as drift. A stream that starts during a contact takes that force as its
    baseline; the release is recognised when force and noise fall below half.

    Kinds, tested in this order: collision, `collision_n` reached within `collision_rise_s`; tap,
    up to `tap_s` long; slide, the mean force vector is shorter than `slide_straightness` of the
    mean magnitude; hold, at least `hold_s` and as steady as the sensor's noise or
    `hold_steadiness` (interquartile range over median); else push.
    """

    onset_n: float = arg(
        'Force above the baseline that starts a contact, in newtons; at least 8 times the noise.',
        default=1.0,
        minimum=0.01,
        maximum=10000.0,
    )
    onset_nm: float = arg(
        'Torque above the baseline that starts a contact, in newton metres.',
        default=1.0,
        minimum=0.001,
        maximum=10000.0,
    )
    release_ratio: float = arg(
        'Fraction of the onset threshold below which a contact is released.',
        default=0.5,
        minimum=0.05,
        maximum=1.0,
    )
    quiet_s: float = arg(
        'Time below the release threshold that ends a contact, in seconds.',
        default=0.3,
        minimum=0.001,
        maximum=60.0,
    )
    min_duration_s: float = arg(
        'Minimum duration of a contact, in seconds; shorter ones are discarded.',
        default=0.015,
        minimum=0.0,
        maximum=60.0,
    )
    baseline_s: float = arg(
        'Time constant of the baseline filter, in seconds.',
        default=1.4,
        minimum=0.1,
        maximum=3600.0,
    )
    max_duration_s: float = arg(
        'Duration after which a sustained force becomes the new baseline, in seconds.',
        default=60.0,
        minimum=1.0,
        maximum=3600.0,
    )
    gap_s: float = arg(
        'Gap in the readings that ends a contact as truncated, in seconds.',
        default=1.0,
        minimum=0.01,
        maximum=3600.0,
    )
    pre_s: float = arg(
        'Signal stored before the onset, in seconds.', default=1.0, minimum=0.0, maximum=10.0
    )
    post_s: float = arg(
        'Signal stored after the end, in seconds.', default=0.5, minimum=0.0, maximum=10.0
    )
    max_points: int = arg(
        'Maximum samples per stored signal; longer signals are downsampled to their extremes.',
        default=2048,
        minimum=16,
        maximum=100_000,
    )
    collision_n: float = arg(
        'Force of a collision, in newtons.', default=25.0, minimum=0.01, maximum=10000.0
    )
    collision_rise_s: float = arg(
        'Maximum rise time of a collision, in seconds.',
        default=0.05,
        minimum=0.001,
        maximum=10.0,
    )
    tap_s: float = arg(
        'Maximum duration of a tap, in seconds.', default=0.3, minimum=0.0, maximum=10.0
    )
    slide_straightness: float = arg(
        'Ratio of mean force vector to mean magnitude below which a contact is a slide.',
        default=0.9,
        minimum=0.0,
        maximum=1.0,
    )
    hold_s: float = arg(
        'Minimum duration of a hold, in seconds.', default=2.0, minimum=0.0, maximum=3600.0
    )
    hold_steadiness: float = arg(
        'Maximum ratio of force spread to median of a hold.',
        default=0.01,
        minimum=0.0,
        maximum=1.0,
    )
    light_n: float = arg(
        'Peak force below which a contact is described as light, in newtons.',
        default=5.0,
        minimum=0.0,
        maximum=10000.0,
    )
    hard_n: float = arg(
        'Peak force from which a contact is described as hard, in newtons.',
        default=15.0,
        minimum=0.0,
        maximum=10000.0,
    )
    place: str = arg(
        'Robot part that carries the sensor, used in the description.',
        default='',
        max_length=128,
    )

    def __post_init__(self) -> None:
        """Refuse settings that no contact can meet."""
        validate(self)
        if self.light_n > self.hard_n:
            raise InvalidArgument(f'light_n must be at most hard_n {self.hard_n:g}')
