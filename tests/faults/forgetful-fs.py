"""A file system that keeps everything in memory and knows what a power loss would leave.

  forgetful-fs.py MOUNT IMAGES

Only what was fsynced is sure: a file's bytes by fsync or fdatasync of the file, a name by fsync of its folder.
Creating a file named ".power-loss.strict" writes to IMAGES/strict what would be there if the power failed at that
moment and nothing unsynced had reached the disk. ".power-loss.<number>" draws, seeded by the number, which unsynced
sectors and which unsynced folders had reached it. The mounted tree itself goes on undisturbed.
"""
import errno
import os
import random
import stat
import sys
import time

from fusepy import FUSE, FuseOSError, Operations

SECTOR = 512
COMMAND = '.power-loss.'


class Node:
    def __init__(self, mode):
        self.mode = mode
        self.uid, self.gid = os.getuid(), os.getgid()
        self.times = (time.time(), time.time())
        self.data = bytearray()
        self.synced_data = b''
        self.dirty = set()
        self.names = {}
        self.synced_names = {}

    def is_folder(self):
        return stat.S_ISDIR(self.mode)

    def sync(self):
        self.synced_data = bytes(self.data)
        self.dirty.clear()
        self.synced_names = dict(self.names)

    def touch(self, start, end):
        self.dirty.update(range(start // SECTOR, -(-end // SECTOR)))


class Forgetful(Operations):
    def __init__(self, images):
        self.images = images
        self.root = Node(stat.S_IFDIR | 0o700)

    def find(self, path):
        node = self.root
        for name in filter(None, path.split('/')):
            node = node.names.get(name)
            if node is None:
                raise FuseOSError(errno.ENOENT)
        return node

    def parent(self, path):
        folder, name = os.path.split(path)
        return self.find(folder), name

    def add(self, path, mode):
        folder, name = self.parent(path)
        if name in folder.names:
            raise FuseOSError(errno.EEXIST)
        folder.names[name] = node = Node(mode)
        return node

    def getattr(self, path, fh=None):
        node = self.find(path)
        accessed, modified = node.times
        return dict(st_mode=node.mode, st_nlink=2 if node.is_folder() else 1, st_size=len(node.data),
                    st_uid=node.uid, st_gid=node.gid,
                    st_atime=accessed, st_mtime=modified, st_ctime=modified)

    def readdir(self, path, fh):
        return ['.', '..', *self.find(path).names]

    def mkdir(self, path, mode):
        self.add(path, stat.S_IFDIR | mode)

    def rmdir(self, path):
        folder, name = self.parent(path)
        if self.find(path).names:
            raise FuseOSError(errno.ENOTEMPTY)
        del folder.names[name]

    def create(self, path, mode, fi=None):
        name = os.path.basename(path)
        if name.startswith(COMMAND):
            self.lose_power(name[len(COMMAND):])
            raise FuseOSError(errno.ENODEV)
        self.add(path, stat.S_IFREG | mode)
        return 0

    def open(self, path, flags):
        self.find(path)
        return 0

    def read(self, path, size, offset, fh):
        return bytes(self.find(path).data[offset:offset + size])

    def write(self, path, data, offset, fh):
        node = self.find(path)
        end = offset + len(data)
        if offset > len(node.data):
            node.touch(len(node.data), offset)
            node.data.extend(bytes(offset - len(node.data)))
        node.data[offset:end] = data
        node.touch(offset, end)
        node.times = (node.times[0], time.time())
        return len(data)

    def truncate(self, path, length, fh=None):
        node = self.find(path)
        before = len(node.data)
        if length < before:
            del node.data[length:]
        else:
            node.data.extend(bytes(length - before))
        node.touch(min(length, before), max(length, before))

    def unlink(self, path):
        folder, name = self.parent(path)
        del folder.names[name]

    def rename(self, old, new):
        folder, name = self.parent(old)
        target, new_name = self.parent(new)
        target.names[new_name] = folder.names.pop(name)

    def chmod(self, path, mode):
        node = self.find(path)
        node.mode = stat.S_IFMT(node.mode) | stat.S_IMODE(mode)

    def chown(self, path, uid, gid):
        pass

    def utimens(self, path, times=None):
        self.find(path).times = times or (time.time(), time.time())

    def fsync(self, path, datasync, fh):
        self.find(path).sync()

    def fsyncdir(self, path, datasync, fh):
        self.find(path).sync()

    def lose_power(self, how):
        chance = None if how == 'strict' else random.Random(int(how))
        self.write_out(self.root, os.path.join(self.images, how), chance)

    def write_out(self, node, target, chance):
        if not node.is_folder():
            with open(target, 'wb') as file:
                file.write(survivors(node, chance))
            os.chmod(target, stat.S_IMODE(node.mode))
            return
        os.mkdir(target, 0o700)
        names = node.names if chance and chance.random() < 0.5 else node.synced_names
        for name in sorted(names):
            self.write_out(names[name], os.path.join(target, name), chance)


def survivors(node, chance):
    if chance is None:
        return node.synced_data
    lucky = [sector for sector in sorted(node.dirty) if chance.random() < 0.5]
    image = bytearray(node.synced_data)
    for sector in lucky:
        start = sector * SECTOR
        part = node.data[start:start + SECTOR]
        if start > len(image):
            image.extend(bytes(start - len(image)))
        image[start:start + len(part)] = part
    if chance.random() < 0.5:
        del image[len(node.data):]
    return image


if __name__ == '__main__':
    # The kernel's name and attribute caches stay short, so that what is seen is what is kept.
    FUSE(Forgetful(sys.argv[2]), sys.argv[1], foreground=True, nothreads=True, big_writes=True, hard_remove=True)
