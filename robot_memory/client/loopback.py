"""What keeps proxies out of the talk between processes of one machine."""

from __future__ import annotations

from collections.abc import MutableMapping

LOOPBACK = ('localhost', '127.0.0.1', '::1')


def exempt_loopback(environment: MutableMapping[str, str]) -> None:
    """
    Add the loopback to NO_PROXY and no_proxy of an environment, in place.

    Libraries that read http_proxy, https_proxy or all_proxy send 127.0.0.1 to the proxy otherwise.
    """
    known = [environment.get(name, '') for name in ('NO_PROXY', 'no_proxy')]
    hosts = [host.strip() for text in known for host in text.split(',') if host.strip()]
    exempt = ','.join(dict.fromkeys((*hosts, *LOOPBACK)))
    environment.update(NO_PROXY=exempt, no_proxy=exempt)
