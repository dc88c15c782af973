"""A window that shows pictures of the table, by pygame, which is loaded when the first window opens."""

import importlib.util
import os

import numpy as np
from numpy.typing import NDArray

from bourre_env.errors import MissingPackageError


def need_pygame() -> None:
    """Refuse to go on where pygame is not installed.

    Raises:
        MissingPackageError: it is not; the message says how to get it.
    """
    try:
        found = importlib.util.find_spec("pygame") is not None
    except ValueError:  # a stand-in without a specification, or None, has been put in its place
        found = False
    if not found:
        raise MissingPackageError(
            "render_mode 'human' needs pygame: pip install 'bourre-env[render]', or choose 'rgb_array' or 'ansi'"
        )


class Window:
    """One window. When its user closes it, it stays closed."""

    def __init__(self, title: str) -> None:
        """A window that opens with its first picture."""
        self._title = title
        self._is_open = False
        self._is_closed = False

    def show(self, image: NDArray[np.uint8], *, fps: int) -> None:
        """Show a picture, no more than `fps` of them a second; nothing once the window was closed.

        Args:
            image: [H, W, 3] uint8.
            fps: pictures a second.

        Raises:
            MissingPackageError: pygame is not installed.
        """
        if self._is_closed:
            return
        need_pygame()
        os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
        import pygame

        height, width, _ = image.shape
        if not self._is_open:
            pygame.display.init()
            pygame.display.set_caption(self._title)
            self._surface = pygame.display.set_mode((width, height))
            self._clock = pygame.time.Clock()
            self._is_open = True
        self._surface.blit(pygame.image.frombuffer(image.tobytes(), (width, height), "RGB"), (0, 0))
        pygame.display.flip()
        self._clock.tick(fps)
        if any(event.type == pygame.QUIT for event in pygame.event.get()):
            self.close()

    def close(self) -> None:
        """Close the window; closing it again does nothing."""
        self._is_closed = True
        if self._is_open:
            import pygame

            pygame.display.quit()
            self._is_open = False
